"""The console in a real Chromium, and with --firefox in a real Firefox, on a real server with its simulator: the jobs that people come for, by mouse and by
keyboard; then its screens in states, themes, languages and widths: axe finds nothing, nothing overflows, nothing is thrown,
nothing is refused by the policy, and markup is shown as text.

    console_pages.py MARTLET [--matrix] [--share N/M] [--seed N] [--measure] [--heap MINUTES] [--firefox [CELLS]] [--jobs NAME,…] [--only chromium|firefox] [--films FOLDER] [--pictures FOLDER]

Without --matrix a sample of the cells is judged, chosen by the seed; in Firefox each screen once. --pictures writes the pictures of Docs/Console.
"""

import argparse
import asyncio
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "console"))

import chromium  # noqa: E402
import faults_of_sends  # noqa: E402
import firefox_pages  # noqa: E402
import jobs  # noqa: E402
import matrix  # noqa: E402
import notices  # noqa: E402
import unanswered  # noqa: E402
from checks import Checks  # noqa: E402
from rig import Rig  # noqa: E402

checks = Checks("console-pages")


async def course(options, directory):
    rig = Rig(os.path.abspath(options.martlet), directory)
    await rig.start()
    browser = chromium.Chromium()
    try:
        page = browser.page()
        page.look()
        film = jobs.Film(page, options.films)
        jobs.first_hour(page, rig, film, checks)
        rig.sign_in()
        rig.shop()
        chosen = options.jobs and options.jobs.split(",")
        for job in [job for job in jobs.ALL + faults_of_sends.ALL + notices.ALL if not chosen or job.__name__ in chosen] if not (options.only or options.heap) else []:
            job(page, rig, film, checks)
            complaints = page.complaints()
            checks.equal(f"{job.__name__} brings no complaint", complaints, [])
        if not (options.only or options.heap):
            await unanswered.judge(browser, os.path.abspath(options.martlet), directory, checks, chosen)
        if options.heap:
            matrix.heap(page, rig, checks, options.heap)
        if chosen or options.heap:
            return
        if options.only != "firefox":
            matrix.judge(page, rig, checks, None if options.matrix else options.sample, options.seed, options.share)
            if options.matrix or options.measure:
                matrix.measure(page, rig, checks)
            if options.pictures:
                matrix.pictures(page, rig, options.pictures)
        browser.close()
        browser = None
        if (options.in_firefox is not None or options.matrix) and options.only != "chromium":
            firefox_pages.judge(rig, checks, directory, options.in_firefox, options.seed, options.share)
            firefox_pages.notified(rig, checks, directory)
    finally:
        if browser:
            browser.close()
        await rig.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("martlet")
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--sample", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", default="1/1", help="a share of the cells, such as 1/2, so that several processes judge them")
    parser.add_argument("--firefox", nargs="?", type=int, const=0, dest="in_firefox", metavar="CELLS", help="judge in Firefox too: each screen once, or so many cells")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--heap", type=int, metavar="MINUTES", help="only what Now keeps in memory")
    parser.add_argument("--jobs", help="only these jobs, by name, and no screens")
    parser.add_argument("--only", choices=["chromium", "firefox"], help="only the screens, and only in this browser")
    parser.add_argument("--films")
    parser.add_argument("--pictures")
    options = parser.parse_args()
    if not chromium.program():
        print("console-pages: no Chromium here: 0 passed, 0 failed")
        return
    for folder in (options.films, options.pictures):
        if folder:
            os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(options, directory))


main()
