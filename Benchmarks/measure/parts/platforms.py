"""Other platforms' translators: FCM v1 and ADM beside APNs, WNS and MPNS beside h2load, and Web Push on all cores beside
OpenSSL."""
import os

from ..build import BOTH_CORES
from ..figures import cpu, rates
from ..platforms import Platform, agreements_everywhere
from ..rounds import alternate
from ..sink import Sink


def measure(options):
    with Sink() as sink:
        apns, fcm, adm, wns, mpns, browser = (
            Platform(name, sink) for name in ("apns", "fcmv1", "adm", "wns", "mpns", "browser"))
        samples = alternate({
            "APNs": apns.pushes,
            "FCM v1": fcm.pushes,
            "ADM": adm.pushes,
            "h2load, WNS": wns.yardstick,
            "WNS": wns.pushes,
            "h2load, MPNS": mpns.yardstick,
            "MPNS": mpns.pushes,
            "openssl speed ecdhp256": agreements_everywhere,
            "Web Push": lambda: browser.pushes(loops=os.cpu_count(), cores=BOTH_CORES),
        }, options.rounds)
    return [
        rates("FCM v1", samples, "FCM v1", "APNs", at_least=0.7),
        cpu("  its CPU per push", samples, "FCM v1", "APNs"),
        rates("ADM", samples, "ADM", "APNs", at_least=0.6),
        rates("WNS, HTTP/1.1", samples, "WNS", "h2load, WNS", at_least=0.9),
        rates("MPNS, HTTP/1.1", samples, "MPNS", "h2load, MPNS", at_least=0.9),
        rates("Web Push, all cores", samples, "Web Push", "openssl speed ecdhp256", at_least=0.5),
    ]
