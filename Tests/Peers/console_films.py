"""The six jobs of the console, each done in a real Chromium by mouse and by keyboard alone, with seconds and actions counted, and a
film of each.

    console_films.py MARTLET [--folder FOLDER] [--jobs NAME,…] [--hands mouse,keyboard]

Without --folder no film is written. With it, the films and the page that shows them are; all jobs must then be done.
"""

import argparse
import asyncio
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "console"))

import chromium  # noqa: E402
import films  # noqa: E402
from checks import Checks  # noqa: E402
from rig import Rig  # noqa: E402

checks = Checks("console-films")


async def course(options, directory):
    found, browser = {}, chromium.Chromium()
    version = browser.call("Browser.getVersion")["product"].replace("Headless", "").replace("Chrome/", "Chromium ").split(".")[0]
    try:
        for kind in [kind for kind in (films.Mouse, films.Keyboard) if kind.name in options.hands.split(",")]:
            os.makedirs(place := os.path.join(directory, kind.name))
            rig, page, found[kind.name] = Rig(os.path.abspath(options.martlet), place), browser.page(), {}
            await rig.start()
            try:
                page.look(films.WIDTH, films.HEIGHT)
                page.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
                page.call("Network.clearBrowserCookies")
                for job, name, title, limit in films.JOBS:
                    if options.jobs and name not in options.jobs.split(",") and name != "first-hour":
                        continue
                    path = os.path.join(options.folder, f"film-{name}.webp" if kind is films.Mouse else f"keyboard-{name}.webp") if options.folder else None
                    if options.folder and kind is films.Keyboard and not options.keyboard_films:
                        path = None
                    figures = found[kind.name][name] = films.film(page, browser, rig, kind, job, path)
                    print(f"console-films: {title}, by {kind.name}: {figures['seconds']:.1f} s, {figures['actions']} actions, {figures['texts']} texts", flush=True)
                    checks.that(f"{title} takes no longer than it may by {kind.name}", limit is None or figures["seconds"] <= limit, figures)
                    checks.equal(f"{name} brings no complaint by {kind.name}", page.complaints(), [])
                    if job is films.first_hour:
                        rig.sign_in()
                        rig.shop()
            finally:
                await rig.stop()
        if options.folder and not options.jobs:
            films.document(found, version, options.folder)
    finally:
        browser.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("martlet")
    parser.add_argument("--folder")
    parser.add_argument("--jobs")
    parser.add_argument("--hands", default="mouse,keyboard")
    parser.add_argument("--keyboard-films", action="store_true", help="films of the keyboard too")
    options = parser.parse_args()
    if not chromium.program():
        print("console-films: no Chromium here: 0 passed, 0 failed")
        return
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(options, directory))


main()
