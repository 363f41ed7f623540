"""Other platforms' translators: FCM v1 beside APNs, and Web Push on all cores beside OpenSSL."""
import os

from ..build import BOTH_CORES
from ..figures import cpu, rates
from ..platforms import Platform, agreements_everywhere
from ..rounds import alternate
from ..sink import Sink


def measure(options):
    with Sink() as sink:
        apns, fcm, browser = (Platform(name, sink) for name in ("apns", "fcmv1", "browser"))
        samples = alternate({
            "APNs": apns.pushes,
            "FCM v1": fcm.pushes,
            "openssl speed ecdhp256": agreements_everywhere,
            "Web Push": lambda: browser.pushes(loops=os.cpu_count(), cores=BOTH_CORES),
        }, options.rounds)
    return [
        rates("FCM v1", samples, "FCM v1", "APNs", at_least=0.7),
        cpu("  its CPU per push", samples, "FCM v1", "APNs"),
        rates("Web Push, all cores", samples, "Web Push", "openssl speed ecdhp256", at_least=0.5),
    ]
