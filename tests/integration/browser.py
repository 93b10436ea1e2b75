# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A headless Chromium, driven by its DevTools protocol over a pipe: one process for many pages."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
from fabric_sim import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which(
    "google-chrome")
TIMEOUT = 60  # seconds for an answer


class Browser:
    """Use it with `with`. Each call waits for its answer."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.number, self.kept, self.session = 0, b"", None

    def __enter__(self):
        to_read, self.output = os.pipe()
        self.input, to_write = os.pipe()

        def connect():  # it reads commands from descriptor 3 and writes answers to 4
            os.dup2(to_read, 33)
            os.dup2(to_write, 34)
            os.dup2(33, 3)
            os.dup2(34, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--font-render-hinting=none",
             "--disable-lcd-text", f"--user-data-dir={self.folder / 'profile'}",
             "--remote-debugging-pipe"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=connect, close_fds=False)
        os.close(to_read)
        os.close(to_write)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        os.close(self.output)

    def receive(self):
        while b"\0" not in self.kept:
            if not select.select([self.input], [], [], TIMEOUT)[0]:
                raise OSError("Chromium does not answer")
            more = os.read(self.input, 1 << 20)
            if not more:
                raise OSError("Chromium has ended")
            self.kept += more
        message, self.kept = self.kept.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def open(self, path, width, dark=False, scale=1):
        """Shows a page on a screen of `width` pixels; `scale` picture pixels for each of these."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=844,
                  deviceScaleFactor=scale, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while self.receive().get("method") != "Page.loadEventFired":
            pass

    def run(self, script):
        """The value of an expression, also of a promise."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self):
        """The whole page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])
