"""
Checks that no object refers to API for what the SDK promises not to do: networking except for the loopback scan,
persistent identifiers, the keychain, preferences, requests for permission, files, waiting for the main thread,
look-ups by name.
"""

from __future__ import annotations

import re

from kit import BUILD, CLANG, Case, in_parallel, ios_flags, object_of, own_objects, problem_of, run, sources
from objects import references

LOOPBACK = "Loopback"
MODULE = "DeviceRiskSignals"
# Methods of the `NSObject` protocol: their names occur in the object of a class that adopts a protocol built on it.
ADOPTED = {"-performSelector:", "-performSelector:withObject:", "-performSelector:withObject:withObject:"}

RULES = {
    "sockets outside the loopback scan": (
        r"socket|connect|connectx|bind|listen|accept|send\w*|recv\w*|getaddrinfo|gethostby\w+|res_\w+|getsockopt|poll|select"
    ),
    "networking": (
        r"NSURL(Session|Connection|Download|Request|ProtectionSpace)\w*|NS(Mutable)?URLRequest|NSURLSession\w*|nw_(connection|listener|browser"
        r"|endpoint|parameters)\w*|CFHTTP\w+|CFSocket\w+|CFStream\w+|CFHost\w+|WKWebView|-dataWithContentsOfURL:.*|-stringWithContentsOfURL:.*"
    ),
    "persistent identifiers": (
        r"-identifierForVendor|-advertisingIdentifier|ASIdentifierManager|gethostuuid|IORegistry\w+|IOService\w+|DCDevice"
        r"|DCAppAttestService|-uniqueIdentifier|-serialNumber|-evaluatedPolicyDomainState|-domainState|MGCopyAnswer"
    ),
    "keychain": r"SecItem\w+|SecKey\w+|kSecClass\w*|SSKeychain\w*",
    "preferences and storage": (
        r"NSUserDefaults|CFPreferences\w+|NSUbiquitousKeyValueStore|UIPasteboard|NSHTTPCookieStorage|fopen|open|openat|creat|mkdir|write"
        r"|-writeTo\w+:.*|-createFileAtPath:.*|NSFileHandle|NSKeyedArchiver|sqlite3_\w+"
    ),
    "requests for permission": (
        r"-request\w*(Authorization|Access|Permission|Location)\w*(:.*)?|-evaluatePolicy:.*|-evaluateAccessControl:.*"
        r"|-startUpdatingLocation|-startMonitoring\w*(:.*)?|ATTrackingManager|UNUserNotificationCenter|AVCaptureDevice|CBCentralManager"
    ),
    "changes of the audio session": r"-setCategory:.*|-setActive:.*|-setPreferred\w+:.*",
    "waiting for another thread's queue": (
        r"dispatch_sync\w*|dispatch_barrier_sync|-performSelectorOnMainThread:.*|-waitUntil\w+"
    ),
    "look-ups by name": r"dlsym|dlopen|-performSelector:.*|objc_getClass|-valueForKey:|-setValue:forKey:|syscall",
    "logging": r"NSLog|printf|os_log\w*|syslog|fprintf",
}

# Pairs of a rule and code. They show that each rule finds something.
SELF_TEST = [
    ("sockets outside the loopback scan", "int s = socket(2, 1, 0); (void)s;"),
    ("networking", '[NSURLSession.sharedSession dataTaskWithURL:[NSURL URLWithString:@"x"]];'),
    ("persistent identifiers", "(void)UIDevice.currentDevice.identifierForVendor;"),
    ("keychain", "extern int SecItemAdd(const void *, const void **); SecItemAdd(nullptr, nullptr);"),
    ("preferences and storage", '(void)[NSUserDefaults.standardUserDefaults objectForKey:@"x"];'),
    ("requests for permission", "[[[CLLocationManager alloc] init] requestWhenInUseAuthorization];"),
    ("changes of the audio session", "[AVAudioSession.sharedInstance setActive:YES error:nil];"),
    ("waiting for another thread's queue", "dispatch_sync(dispatch_get_main_queue(), ^{});"),
    ("look-ups by name", '(void)dlsym(nullptr, "fork");'),
    ("logging", 'NSLog(@"x");'),
]

IMPORTS = "".join(f"#import <{name}/{name}.h>\n" for name in ("Foundation", "UIKit", "CoreLocation", "AVFAudio"))


def check() -> list[Case]:
    missing = [path.name for path in own_objects() if not path.exists()]
    if missing:
        return [Case("objects", f"not compiled: {', '.join(missing)}")]
    return [*(check_rule(rule) for rule in RULES), check_loopback(), *in_parallel(check_self, SELF_TEST)]


def matches(rule: str, names: set[str]) -> list[str]:
    return sorted(name for name in names if re.fullmatch(RULES[rule], name))


def check_rule(rule: str) -> Case:
    found = []
    for source in sources(".mm", ".cpp"):
        if rule.startswith("sockets") and source.stem == LOOPBACK:
            continue
        names = references(object_of(source)) - (ADOPTED if source.stem == MODULE else set())
        found += [f"{source.name}: {name}" for name in matches(rule, names)]
    return Case(f"no {rule}", "\n".join(found) or None)


def check_loopback() -> Case:
    """The rule about sockets omits the object of the loopback scan, which must have exactly the calls of a scan."""
    names = [name for name in references(OBJECT) if re.fullmatch(RULES["sockets outside the loopback scan"], name)]
    wanted = ["connect", "getsockopt", "poll", "socket"]
    return Case("the loopback scan connects and sends nothing", None if sorted(names) == wanted else f"uses {names}")


OBJECT = object_of(next(source for source in sources(".cpp") if source.stem == LOOPBACK))


def check_self(test: tuple[str, str]) -> Case:
    rule, code = test
    item = BUILD / f"self-test-{list(RULES).index(rule)}.o"
    declarations = "#include <dlfcn.h>\n#include <sys/socket.h>\n" + IMPORTS
    extern, _, body = code.rpartition("extern ")
    unit = f'{declarations}extern "C" void test(void);\nvoid test(void) {{ {code} }}\n'
    if extern or code.startswith("extern "):
        declared, rest = body.split(";", 1)
        unit = f'{declarations}extern "C" {declared};\nextern "C" void test(void);\nvoid test(void) {{ {rest} }}\n'
    done = run([CLANG, *ios_flags(), "-w", "-c", "-", "-o", item], input=unit)
    if done.returncode != 0:
        return Case(f"sees {rule}", problem_of(done))
    return Case(f"sees {rule}", None if matches(rule, references(item)) else "found nothing")
