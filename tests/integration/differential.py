#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same random commands to Redis 7.0 and to Pollux: every reply must be the same, but for what is listed here.

    differential.py --redis 127.0.0.1:6400 --pollux 10.77.0.2:6379 [--seed N] [--count N]

The Redis server is emptied, and its proto-max-bulk-len is set to Pollux's. `exec:PATH` as an address runs a program
that speaks RESP on stdin and stdout (resp-filter).
"""
import argparse
import random
import socket
import subprocess
import sys
import time

MIB = 1 << 20


def encode(args):
    return b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in args)


class Side:
    """A connection, and the replies read from it as Python values that keep their RESP type."""

    def __init__(self, address):
        self.process = self.socket = None
        self.buffer = b""
        if address.startswith("exec:"):
            self.process = subprocess.Popen([address[5:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)), timeout=20)

    def send(self, data):
        if self.socket:
            self.socket.sendall(data)
        else:
            view = memoryview(data)
            while view:
                view = view[self.process.stdin.write(view):]

    def more(self):
        chunk = self.socket.recv(1 << 16) if self.socket else self.process.stdout.read(1 << 16)
        if not chunk:
            raise EOFError("connection closed")
        self.buffer += chunk

    def line(self):
        while b"\r\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def bytes(self, n):
        while len(self.buffer) < n + 2:
            self.more()
        data, self.buffer = self.buffer[:n], self.buffer[n + 2:]
        return data

    def read(self):
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind in b"$=" and rest != b"-1":
            return (kind, self.bytes(int(rest)))
        if kind in b"*~>" and rest != b"-1":
            return (kind, [self.read() for _ in range(int(rest))])
        if kind == b"%":
            return (kind, [(self.read(), self.read()) for _ in range(int(rest))])
        return (kind, rest)

    def command(self, args):
        self.send(encode(args))
        return self.read()

    def close(self):
        if self.socket:
            self.socket.close()
        else:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()


# ---- random arguments ----

INTEGERS = ["0", "1", "-1", "2", "3", "10", "100", "-100", "2147483647", "-2147483648", "4294967296",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
            "18446744073709551615", "", " 1", "1 ", "+1", "01", "-0", "0x10", "1.0", "1e3", "abc", "9223372036854775",
            "9223372036854776", "-9223372036854776", "1048576", "1048575", "536870910", "9223372036854775757"]
REALS = ["0", "1", "-1", "1.5", "-0.1", "0.1", "1e10", "1e-20", "3.0e3", "inf", "-inf", "+inf", "nan", "1e400",
         "1.7976931348623157e308", "5e-324", "", " 1", "1 ", "0x1p3", "abc", "99999999999999999999999", "1e4931", "-0"]
WORDS = [b"", b"a", b"hello", b"Hello World", b"\x00\x01\xff", b"10", b"-5", b"3.0", b"x" * 44, b"x" * 45, b"12345678901234567890",
         b"9223372036854775807", b"ohmytext", b"mynewtext", b"\r\n", b"ab" * 300, b"  7"]
KEYS = [b"k0", b"k1", b"k2", b"k3", b"n0", b"n1", b"", b"\xc3\xa9 \x00", b"a*b", b"longer-key-" + b"y" * 100]
PATTERNS = [b"*", b"k*", b"k?", b"[k]?", b"[^k]*", b"[a-n]0", b"\\*", b"a\\*b", b"k[0-2", b"*0", b"", b"?", b"**", b"k[^0]",
            b"[z-a]*", b"*[0]", b"[]", b"[\\]]", b"a[*]b", b"\\"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, choices):
        return self.random.choice(choices)

    def key(self):
        return self.pick(KEYS)

    def integer(self):
        r = self.random.random()
        if r < 0.5:
            return str(self.random.randint(-20, 20)).encode()
        return self.pick(INTEGERS).encode()

    def real(self):
        if self.random.random() < 0.4:
            return str(round(self.random.uniform(-100, 100), self.random.randint(0, 6))).encode()
        return self.pick(REALS).encode()

    def value(self):
        r = self.random.random()
        if r < 0.3:
            return self.integer()
        if r < 0.34:
            return b"z" * self.random.randint(0, 5000)
        return self.pick(WORDS)

    def seconds(self):
        """Far enough away that both sides agree for the whole test, or over, or wrong."""
        r = self.random.random()
        if r < 0.5:
            return str(self.random.randint(5000, 100000)).encode()
        if r < 0.7:
            return str(self.random.randint(-100, 0)).encode()
        return self.pick([i for i in INTEGERS if i not in ("1", "2", "3", "10", "100")]).encode()

    def milliseconds(self):
        if self.random.random() < 0.6:
            return str(self.random.randint(5000000, 100000000)).encode()
        return self.pick([i for i in INTEGERS if not i.isdigit() or not 0 < int(i) < 10 ** 6]).encode()

    def absolute(self, unit):
        r = self.random.random()
        if r < 0.5:
            return str((int(time.time()) + self.random.randint(5000, 100000)) * unit).encode()
        if r < 0.7:
            return str(self.random.randint(-10, 1000) * unit).encode()
        return self.pick(INTEGERS).encode()

    def time_option(self):
        return self.pick([
            lambda: [b"EX", self.seconds()], lambda: [b"PX", self.milliseconds()],
            lambda: [b"EXAT", self.absolute(1)], lambda: [b"PXAT", self.absolute(1000)],
        ])()

    def some(self, *options):
        chosen = []
        for option in self.random.sample(options, self.random.randint(0, min(3, len(options)))):
            chosen += option() if callable(option) else [option]
        return chosen

    def keys(self, most=4):
        return [self.key() for _ in range(self.random.randint(1, most))]

    def command(self):
        name = self.pick(list(COMMANDS))
        args = [name.encode()] + [a for part in COMMANDS[name](self) for a in (part if isinstance(part, list) else [part])]
        r = self.random.random() if name not in ("shutdown", "wait", "debug") else 1
        if r < 0.02:
            args = args[:-1] if len(args) > 1 else args
        elif r < 0.04:
            args.append(self.value())
        elif r < 0.06 and len(args) > 1:
            args[self.random.randrange(1, len(args))] = self.milliseconds() if name in TIMED else self.value()
        if self.random.random() < 0.2:
            args[0] = self.pick([args[0].upper(), args[0].title(), args[0].swapcase()])
        return args


SET_OPTIONS = lambda g: g.some(b"NX", b"XX", b"GET", b"KEEPTTL", g.time_option, b"nx", b"get", b"PERSIST", b"EX", b"foo")
EXPIRE_OPTIONS = lambda g: g.some(b"NX", b"XX", b"GT", b"LT", b"nx", b"gt", b"foo") if g.random.random() < 0.4 else []
COMMANDS = {
    "set": lambda g: [g.key(), g.value(), SET_OPTIONS(g) if g.random.random() < 0.6 else []],
    "get": lambda g: [g.key()],
    "setnx": lambda g: [g.key(), g.value()],
    "setex": lambda g: [g.key(), g.seconds(), g.value()],
    "psetex": lambda g: [g.key(), g.milliseconds(), g.value()],
    "getset": lambda g: [g.key(), g.value()],
    "getdel": lambda g: [g.key()],
    "getex": lambda g: [g.key(), g.some(g.time_option, b"PERSIST", b"KEEPTTL", b"GET", b"persist")],
    "mget": lambda g: g.keys(),
    "append": lambda g: [g.key(), g.value()],
    "strlen": lambda g: [g.key()],
    "setrange": lambda g: [g.key(), g.integer(), g.value()],
    "getrange": lambda g: [g.key(), g.integer(), g.integer()],
    "substr": lambda g: [g.key(), g.integer(), g.integer()],
    "incr": lambda g: [g.key()],
    "decr": lambda g: [g.key()],
    "incrby": lambda g: [g.key(), g.integer()],
    "decrby": lambda g: [g.key(), g.integer()],
    "incrbyfloat": lambda g: [g.key(), g.real()],
    "lcs": lambda g: [g.key(), g.key(), g.some(b"IDX", b"LEN", b"WITHMATCHLEN", lambda: [b"MINMATCHLEN", g.integer()])],
    "del": lambda g: g.keys(2),
    "unlink": lambda g: g.keys(2),
    "exists": lambda g: g.keys(),
    "touch": lambda g: g.keys(),
    "type": lambda g: [g.key()],
    "expire": lambda g: [g.key(), g.seconds(), EXPIRE_OPTIONS(g)],
    "pexpire": lambda g: [g.key(), g.milliseconds(), EXPIRE_OPTIONS(g)],
    "expireat": lambda g: [g.key(), g.absolute(1), EXPIRE_OPTIONS(g)],
    "pexpireat": lambda g: [g.key(), g.absolute(1000), EXPIRE_OPTIONS(g)],
    "ttl": lambda g: [g.key()],
    "pttl": lambda g: [g.key()],
    "expiretime": lambda g: [g.key()],
    "pexpiretime": lambda g: [g.key()],
    "persist": lambda g: [g.key()],
    "keys": lambda g: [g.pick(PATTERNS)],
    "scan": lambda g: [b"0", b"COUNT", b"1000000", g.some(lambda: [b"MATCH", g.pick(PATTERNS)],
                                    lambda: [b"TYPE", g.pick([b"string", b"STRING", b"hash"])], b"foo",
                                    lambda: [b"COUNT", g.pick([b"0", b"-1", b"x"])])],
    "dbsize": lambda g: [],
    "object": lambda g: [g.pick([b"encoding", b"freq", b"help", b"ENCODING", b"foo"]), g.key()],
    "select": lambda g: [g.pick([b"0", b"1", b"15", b"16", b"-1", b"x", b"99999999999"])],
    "ping": lambda g: [g.value()] if g.random.random() < 0.5 else [],
    "echo": lambda g: [g.value()],
    "hello": lambda g: g.pick([[], [b"2"], [b"3"], [b"4"], [b"x"], [b"3", b"SETNAME", b"n"], [b"2", b"foo"], [b"1"],
                               [b"3", b"AUTH", b"default", b"x"], [b"3", b"AUTH", b"u", b"x"], [b"2", b"SETNAME", b"a b"]]),
    "auth": lambda g: g.pick([[b"x"], [b"default", b"x"], [b"u", b"x"], [b"a", b"b", b"c"]]),
    "client": lambda g: g.pick([[b"getname"], [b"setname", b"n"], [b"setname", b"a b"], [b"no-evict", b"on"],
                                [b"no-evict", b"x"], [b"foo"], [b"kill", b"1.2.3.4:5"], [b"kill", b"id", b"0"],
                                [b"kill", b"type", b"x"], [b"kill", b"id", b"999999"], [b"kill", b"user", b"nobody"],
                                [b"list", b"type", b"foo"], [b"list", b"id", b"x"], [b"list", b"x"], [b"list", b"type", b"master"],
                                [b"kill", b"skipme", b"maybe"], [b"kill", b"addr", b"x", b"type"], [b"setname", b""]]),
    "config": lambda g: g.pick([[b"get", b"requirepass"], [b"get", b"maxclients", b"timeout"], [b"get", b"nothing"],
                                [b"set", b"nothing", b"1"], [b"set", b"maxclients"], [b"set", b"timeout", b"x"],
                                [b"set", b"databases", b"1"], [b"set", b"timeout", b"0", b"timeout", b"0"], [b"foo"], [b"help"],
                                [b"get"], [b"set", b"timeout", b"0"], [b"set", b"maxmemory-policy", b"x", b"foo", b"y"],
                                [b"set", b"protected-mode", b"maybe"], [b"set", b"timeout", b"-1"]]),
    "command": lambda g: g.pick([[b"getkeys", b"set", b"a", b"b"], [b"getkeys", b"ping"], [b"getkeys", b"mget", b"a", b"b"],
                                 [b"getkeys", b"get"], [b"getkeys", b"foo", b"x"], [b"getkeysandflags", b"del", b"a", b"b"],
                                 [b"getkeysandflags", b"set", b"a", b"b"], [b"info", b"get", b"foo", b"config|get"],
                                 [b"foo"], [b"getkeys"], [b"help"], [b"list", b"filterby", b"pattern", b"getr*"],
                                 [b"list", b"filterby", b"foo", b"x"], [b"list", b"x"], [b"info", g.pick(INFO_NAMES)],
                                 [b"getkeys", b"lcs", b"a", b"b"], [b"getkeys", b"object", b"encoding", b"x"],
                                 [b"list", b"filterby", b"module", b"x"], [b"docs", b"nothing"],
                                 []]),
    "function": lambda g: g.pick([[b"flush"], [b"flush", b"sync"], [b"flush", b"foo"], [b"flush", b"a", b"b"]]),
    "wait": lambda g: g.pick([[b"0", b"0"], [b"-1", b"5"], [b"1", b"1"], [b"x", b"1"], [b"1", b"-1"], [b"1", b"x"]]),
    "role": lambda g: [],
    "save": lambda g: [],
    "randomkey": lambda g: [],
    "reset": lambda g: [],
    "flushdb": lambda g: g.pick([[], [b"sync"], [b"async"], [b"foo"], [b"sync", b"x"]]) if g.random.random() < 0.3 else [b"foo"],
    "flushall": lambda g: [b"sync"] if g.random.random() < 0.1 else [b"foo"],
    "shutdown": lambda g: g.pick([[b"abort"], [b"save", b"nosave"], [b"foo"], [b"abort", b"now"]]),
    "debug": lambda g: [b"sleep", g.pick([b"0", b"0.001", b"x"])],
    "nothing": lambda g: [g.value()],
    "cluster": lambda g: g.pick([[b"info"], []]),
}
# An argument of these in the wrong place must not become a time that ends during the test.
TIMED = ("set", "setex", "psetex", "getex", "expire", "pexpire", "expireat", "pexpireat")
INFO_NAMES = [name.encode() for name in COMMANDS if name not in ("nothing", "command", "client", "function", "cluster")]

# ---- what may differ, and why ----

OURS = {b"client|setinfo"}  # from Redis 7.2


def subject(args):
    return args[0].lower()


def number(reply):
    return int(reply[1]) if reply[0] == b":" and reply[1].lstrip(b"-").isdigit() else None


def near(a, b, tolerance):
    x, y = number(a), number(b)
    return x is not None and y is not None and (x > 0) == (y > 0) and abs(x - y) <= tolerance


def as_set(reply):
    return (reply[0], sorted(reply[1], key=repr)) if reply[0] in (b"*", b"~") else reply


def unfinished(reply):
    return reply[0] == b"*" and reply[1][0][1] != b"0"


def scan_set(reply):
    return (reply[0], [reply[1][0], as_set(reply[1][1])]) if reply[0] == b"*" and len(reply[1]) == 2 else reply


def same(args, redis, pollux):
    name = subject(args)
    if redis == pollux:
        return True
    if name in (b"ttl", b"expiretime"):
        return near(redis, pollux, 2)  # the clocks are read at different moments
    if name in (b"pttl", b"pexpiretime"):
        return near(redis, pollux, 2000)
    if name == b"scan" and (args[1] != b"0" or unfinished(redis) or unfinished(pollux)):
        return redis[0] == pollux[0]  # a cursor means something else to each
    if name in (b"keys", b"scan"):
        return scan_set(as_set(redis)) == scan_set(as_set(pollux)) if name == b"scan" else as_set(redis) == as_set(pollux)
    if name == b"command" and (len(args) == 1 or args[1].lower() in (b"list", b"info")):
        return introspection_same(without_notes(redis), without_notes(pollux))
    if name == b"command" and args[1].lower() == b"docs":  # summaries are in our own words
        return redis[0] == pollux[0]
    if name == b"hello" and redis[0] in b"*%":  # the client's id
        return str(redis)[:90] == str(pollux)[:90] and len(redis[1]) == len(pollux[1])
    if name == b"lcs" and b"Insufficient memory" in redis[1]:
        return True  # our limit for the table is Redis's default, not its setting
    if name == b"object" and len(args) > 1 and args[1].lower() == b"encoding":
        return encoding_same(redis, pollux)
    if name == b"randomkey" or (name == b"client" and args[1].lower() in (b"list", b"info", b"id")):
        return redis[0] == pollux[0]
    if name == b"dbsize":  # Redis counts expired keys until it meets them
        return 0 <= (number(redis) or 0) - (number(pollux) or 0) <= len(KEYS)
    if name == b"cluster":
        return pollux[1].startswith(b"ERR unknown command 'cluster'") or pollux[1].lower().startswith(b"err unknown command")
    if name == b"debug" and pollux[1].startswith(b"ERR DEBUG command not allowed"):
        return True  # by its setting, it is for local peers only
    if name == b"config":
        return config_same(args, redis, pollux)
    return False


def without_notes(reply):
    """The notes of key specifications are in our own words."""
    kind, value = reply
    if kind == b"%":
        return (kind, [(k, without_notes(v)) for k, v in value if k[1] != b"notes"])
    if isinstance(value, list):
        if len(value) > 1 and value[0] == (b"$", b"notes"):
            value = value[2:]
        return (kind, [without_notes(v) for v in value])
    return reply


def rows(reply):
    """Of COMMAND INFO, or of a row's subcommands: name -> row."""
    return {row[1][0][1]: row[1] for row in reply[1] if row[0] == b"*"}


def introspection_same(redis, pollux):
    """Redis has more commands and subcommands; what it says of those that both have must be the same."""
    if redis[0] != pollux[0] or redis[0] == b"-":
        return redis == pollux
    if all(item[0] == b"$" for item in pollux[1]):  # COMMAND LIST
        return {i[1] for i in pollux[1]} - OURS <= {i[1] for i in redis[1]}
    theirs = rows(redis)
    for name, row in rows(pollux).items():
        if name in OURS:
            continue
        if name not in theirs or row[:9] != theirs[name][:9]:
            return False
        if len(row) == 10 and not introspection_same(theirs[name][9], row[9]) and row[9][1]:
            return False
    return True


def encoding_same(redis, pollux):
    """A number that INCRBYFLOAT made is text to Redis until it is set anew."""
    return redis[1] == b"embstr" and pollux[1] == b"int"


def config_same(args, redis, pollux):
    if b"argument must be between" in pollux[1]:  # the limits of some settings
        return b"argument must be between" in redis[1]
    return redis[0] == pollux[0] and args[1].lower() in (b"get", b"help")


# ---- the run ----

PIPELINE = 40
SHOWN = 20


def exchange(side, pipeline):
    side.send(b"".join(encode(args) for args in pipeline))
    return [side.read() for _ in pipeline]


def compare(redis, pollux, generator, count):
    differences = done = 0
    for side in (redis, pollux):
        side.command([b"HELLO", b"2"])
        side.command([b"FLUSHALL"])
    redis.command([b"CONFIG", b"SET", b"proto-max-bulk-len", str(MIB).encode()])
    history = []
    while done < count and differences < SHOWN:
        size = generator.random.choice((1, 1, 2, 5, 20, PIPELINE))
        pipeline = [generator.command() for _ in range(size)]
        try:
            replies = zip(pipeline, exchange(redis, pipeline), exchange(pollux, pipeline))
        except (EOFError, OSError) as problem:
            print(f"no reply to one of {pipeline!r:.2000}: {problem}")
            return differences + 1
        for args, a, b in replies:
            history = (history + [args])[-6:]
            if same(args, a, b):
                continue
            differences += 1
            print(f"difference after {done} commands: {args!r:.300}\n  redis  {a!r:.300}\n  pollux {b!r:.300}")
            for earlier in history[:-1]:
                print(f"    before it: {earlier!r:.200}")
        done += size
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--redis", required=True, metavar="HOST:PORT")
    parser.add_argument("--pollux", required=True, metavar="HOST:PORT")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--count", type=int, default=20000)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.count} commands")
    redis, pollux = Side(options.redis), Side(options.pollux)
    differences = compare(redis, pollux, Generator(options.seed), options.count)
    redis.close()
    pollux.close()
    print(f"{differences} differences")
    return differences != 0


if __name__ == "__main__":
    sys.exit(main())
