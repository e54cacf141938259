#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check_source.py finds what it is there for: a small tree with one fault after another."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CHECK = os.path.join(TOP, 'scripts', 'check_source.py')
SPDX = '/* SPDX-License-Identifier: BSD-3-Clause */\n'
HEADERS = ('pmem/engine.h', 'pmem/pool.h', 'dataplane/core.h', 'dataplane/bytes.h', 'dataplane/tcp/tcp.h',
           'dataplane/command/command.h', 'dataplane/stats/layout.h', 'control/config.h')

# (file, text, the fault that must be found or None)
CASES = (
    ('pmem/a.c', '#include "pmem/pool.h"\n', None),
    ('pmem/a.c', '#include "dataplane/bytes.h"\n', 'direction of the layers'),
    ('dataplane/tcp/a.c', '#include "dataplane/bytes.h"\n', None),
    ('dataplane/tcp/a.c', '#include "dataplane/command/command.h"\n', 'direction of the layers'),
    ('dataplane/command/a.c', '#include "pmem/engine.h"\n', None),
    ('dataplane/command/a.c', '#include "dataplane/core.h"\n', 'direction of the layers'),
    ('dataplane/a.c', '#include "dataplane/tcp/tcp.h"\n', None),
    ('dataplane/a.c', '#include "control/config.h"\n', 'direction of the layers'),
    ('control/a.c', '#include "dataplane/stats/layout.h"\n', None),
    ('control/a.c', '#include "dataplane/core.h"\n', 'direction of the layers'),
    ('pmem/a.c', '#include "nosuch.h"\n', 'not a path from the top'),
    ('pmem/pool.c', '#include "pmem/engine.h"\n#include "pmem/pool.h"\n', 'own header'),
    ('dataplane/a.c', 'sprintf(to, "x");\n', 'banned call sprintf'),
    ('dataplane/a.c', 'strcpy (to, from);\n', 'banned call strcpy'),
    ('dataplane/a.c', 'n = atoi(text);\n', 'banned call atoi'),
    ('dataplane/a.c', 'snprintf(to, 9, "atoi(");  /* never atoi() */\n', None),
    ('pmem/a.c', 'uint8_t *p = (uint8_t *)(uintptr_t)word;\n', 'casts const away'),
    ('pmem/a.c', 'const uint8_t *p = (const uint8_t *)(uintptr_t)word;\n', None),
    ('pmem/a.c', '#pragma GCC diagnostic ignored "-Wcast-qual"\n', 'casts const away'),
    ('pmem/a.c', 'pmem_memcpy_nodrain(to, from, 9);\n', 'only pmem/persist.c'),
    ('pmem/persist.c', 'pmem_memcpy_nodrain(to, from, 9);\n', None),
    ('dataplane/a.c', '_mm_clwb(p);\n', 'only pmem/persist.c'),
    ('dataplane/a.c', 'void\nf(void)\n{\n' + '    g();\n' * 80 + '}\n', None),
    ('dataplane/a.c', 'void\nf(void)\n{\n' + '    g();\n' * 81 + '}\n', 'function of 81 lines'),
    ('dataplane/a.c', '\n' * 799, None),
    ('dataplane/a.c', '\n' * 800, '801 lines'),
    ('dataplane/a.c', '/* TO' + 'DO: later */\n', 'unfinished'),
    ('dataplane/a.c', 'open("/ho' + 'me/me/x");\n', 'a path of one machine'),
    ('dataplane/a.c', 'int x; \n', 'blanks at the end'),
)


def faults(name, text):
    """What the check says of a tree that holds the headers and this file."""
    with tempfile.TemporaryDirectory() as folder:
        for path in HEADERS:
            write(folder, path, SPDX)
        write(folder, name, text)
        names = '\0'.join(sorted({*HEADERS, name}))
        done = subprocess.run((sys.executable, '-B', CHECK), input=names, cwd=folder, capture_output=True, text=True,
                              check=False)
        assert (done.returncode != 0) == bool(done.stdout) and not done.stderr, done
        return done.stdout.splitlines()


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main():
    failed = 0
    for name, text, expected in CASES + (('dataplane/a.c', None, 'no SPDX line'),):
        found = faults(name, 'int x;\n' if text is None else SPDX + text)
        good = not found if expected is None else len(found) == 1 and expected in found[0]
        if not good:
            failed += 1
            print(f'{name}: {text!r:.80}: found {found}, expected {expected!r}')
    sys.exit(failed > 0)


main()
