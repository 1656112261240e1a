"""Chromium, as scripts control it."""
import base64
import json
import os
import subprocess
import sys
import time


class Page:
    """A page in Chromium, by the DevTools protocol over a pipe."""

    def __init__(self, folder, address):
        (commands, self.write), (self.read, answers) = os.pipe(), os.pipe()
        self.browser = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{answers} >/dev/null 2>&1', "chromium", "--headless=new",
             "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={folder}/profile", "about:blank"], pass_fds=(commands, answers))
        self.number, self.rest, self.session = 0, b"", None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Performance.enable")
        self.send("Page.navigate", url=address)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        message.update({"sessionId": self.session} if self.session else {})
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.read, 1 << 16)
            answer, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                return answer["result"]

    def value(self, expression):
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, condition):
        for _ in range(300):
            if self.value(f"!!({condition})"):
                return
            time.sleep(0.1)
        sys.exit(f"never: {condition}")

    def sign_in(self, key):
        """Into the operators' console."""
        self.wait("document.querySelector('#key')")
        self.value(f"document.querySelector('#key').value = '{key}'; document.querySelector('form').requestSubmit()")
        self.wait("document.querySelector('.legend')")

    def show(self, width, is_dark):
        """The window's width in pixels, and the viewer's preference."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def picture(self, path):
        """The whole page, as a PNG."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        # Without the room of a scroll bar, which the picture does not have.
        clip = {"x": 0, "y": 0, "width": max(size["width"], self.value("innerWidth")), "height": size["height"], "scale": 1}
        data = self.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.terminate()
        self.browser.wait()

    def memory(self):
        for _ in range(2):
            self.send("HeapProfiler.collectGarbage")
        metrics = {one["name"]: one["value"] for one in self.send("Performance.getMetrics")["metrics"]}
        return metrics["JSHeapUsedSize"] / 1e3, metrics["Nodes"]
