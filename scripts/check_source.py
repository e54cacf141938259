# SPDX-License-Identifier: BSD-3-Clause
"""Source rules that no compiler knows. Reads NUL-ended file names, prints `file:line: fault`."""
import os
import re
import sys

MAX_FUNCTION = 80
MAX_FILE = 800

# Who may include whom: the first rule whose folder or file holds the including file counts. A file may always include
# its own folder. core -> net, tcp, stream, resp, command -> pmem; control sees the statistics and the RPC only.
SEAMS = ('dataplane/bytes.h', 'dataplane/stream.h')
LAYERS = (
    ('pmem/', ()),
    ('dataplane/stats/', ('dataplane/net/net_drops.def', 'dataplane/tcp/tcp_drops.def')),
    ('dataplane/rpc/', ()),
    ('dataplane/resp/', SEAMS + ('pmem/engine.h',)),
    ('dataplane/tcp/', SEAMS + ('pmem/siphash.h',)),
    ('dataplane/net/', SEAMS + ('dataplane/port.h', 'dataplane/tcp/')),
    ('dataplane/command/', SEAMS + ('dataplane/server.h', 'dataplane/resp/', 'dataplane/rpc/settings.',
                                    'dataplane/stats/', 'pmem/engine.h')),
    ('dataplane/', ('dataplane/', 'pmem/engine.h')),
    ('control/', ('dataplane/stats/layout.h', 'dataplane/stats/counters.def', 'dataplane/stats/families.def',
                  'dataplane/rpc/', 'dataplane/net/net_drops.def', 'dataplane/tcp/tcp_drops.def')),
)

BANNED_CALLS = re.compile(r'\b(sprintf|vsprintf|strcpy|strcat|strtok|atoi|atol|atof|gets|alloca)\s*\(')
UNFINISHED = re.compile(r'\b(TODO|FIXME)\b')
MACHINE_PATH = re.compile(r'(?<![\w.$}])/(work|home|root|mnt|opt)/')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
FUNCTION = re.compile(r'^\{\n(.*?)^\}$', re.S | re.M)

# The pool is const to all but persist: these would get round the type.
PERSIST = ('pmem/persist.c', 'tests/crash/persist_sim.c')
# They store nothing: ISA-L's CRC only reads, but its prototype lacks const; the pool is unmapped as it was mapped.
CASTING = ('pmem/crc.c', 'pmem/pool.c')
PMEM_CALL = re.compile(r'\b(pmem_(memcpy|memmove|memset|persist|flush|drain|msync)\w*|_mm_(clwb|clflush\w*|stream_\w+))'
                       r'\s*\(')
CONST_CAST = re.compile(r'\((?!\s*const\b)[^()]*\*\s*\)\s*\(\s*u?intptr_t\s*\)|__DECONST')
NO_CAST_WARNING = re.compile(r'diagnostic\s+ignored\s+"-Wcast-qual"')


def line_of(text, position):
    return text.count('\n', 0, position) + 1


def blank(match):
    """Keep the line count of what is taken out."""
    return '\n' * match.group().count('\n')


def check_text(name, text):
    lines = text.count('\n')
    if lines > MAX_FILE and os.path.splitext(name)[1] in ('.c', '.h', '.py', '.sh', '.js', ''):
        yield lines, f'{lines} lines; the limit is {MAX_FILE}'
    if name == 'scripts/check_source.py':
        return
    for pattern, fault in ((UNFINISHED, 'unfinished'), (MACHINE_PATH, 'a path of one machine')):
        for match in pattern.finditer(text):
            yield line_of(text, match.start()), f'{fault}: {match.group()}'
    for number, line in enumerate(text.split('\n'), 1):
        if line != line.rstrip() and not name.endswith('.md'):
            yield number, 'blanks at the end of the line'


def check_spdx(name, text):
    kinds = ('.c', '.h', '.py', '.sh', '.js', '.mjs', '.def')
    if os.path.splitext(name)[1] in kinds or text.startswith('#!'):
        if 'SPDX-License-Identifier: BSD-3-Clause' not in ''.join(text.split('\n')[:2]):
            yield 1, 'no SPDX line on top'


def layer_allows(name, include):
    for folder, allowed in LAYERS:
        if name.startswith(folder):
            return include.startswith((folder,) + allowed)
    return True  # tests may include what they test


def check_includes(name, text):
    for match in INCLUDE.finditer(text):
        include = match.group(1)
        number = line_of(text, match.start(1))
        if not os.path.exists(include):
            yield number, f'#include "{include}": not a path from the top of the tree'
        elif not layer_allows(name, include):
            yield number, f'#include "{include}": against the direction of the layers'
    own = os.path.splitext(name)[0] + '.h'
    first = INCLUDE.search(text)
    if name.endswith('.c') and os.path.exists(own) and not (first and first.group(1).endswith((own, '_internal.h'))):
        yield 1, f'does not include its own header {own} first'


def check_c(name, text):
    yield from check_includes(name, text)
    code = STRING.sub('""', COMMENT.sub(blank, text))
    for match in BANNED_CALLS.finditer(code):
        yield line_of(code, match.start()), f'banned call {match.group(1)}'
    if name not in PERSIST and not name.startswith('tests/'):
        for match in PMEM_CALL.finditer(code):
            yield line_of(code, match.start()), f'{match.group(1)}: only pmem/persist.c stores to the pool'
        if name.startswith(('pmem/', 'dataplane/command/')) and name not in CASTING:
            for match in CONST_CAST.finditer(code):
                yield line_of(code, match.start()), 'casts const away'
    for match in NO_CAST_WARNING.finditer(text):
        yield line_of(text, match.start()), 'casts const away'
    for match in FUNCTION.finditer(text):
        length = match.group(1).count('\n')
        if length > MAX_FUNCTION:
            yield line_of(text, match.start()), f'function of {length} lines; the limit is {MAX_FUNCTION}'


def check(name):
    with open(name, 'rb') as file:
        data = file.read()
    if b'\0' in data:
        return
    text = data.decode('utf-8', 'surrogateescape')
    yield from check_text(name, text)
    yield from check_spdx(name, text)
    if name.endswith(('.c', '.h', '.def')):
        yield from check_c(name, text)


def main():
    names = [name for name in sys.stdin.read().split('\0') if name]
    faults = 0
    for name in names:
        for number, fault in check(name):
            print(f'{name}:{number}: {fault}')
            faults += 1
    sys.exit(faults > 0)


main()
