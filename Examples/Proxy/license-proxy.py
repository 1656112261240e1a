#!/usr/bin/env python3
"""A proxy for a license service of Widevine, PlayReady or another DRM, which counts its streams together with FairPlay's.

    license-proxy.py --slots https://licenses.example/t/acme/slots --key slots-key.txt --drm widevine --service https://widevine.example/license

A player sends its license request to /license?kid=KID (or ?asset=NAME), optionally with &session= and &device=, and its token as
Authorization: Bearer. The proxy takes a slot with the token, forwards the request unread, and returns the reply unread. It releases the
slot if the service makes no license. If the slot is refused, the refusal goes to the player and the service is not asked.

It neither makes nor reads licenses. Source: Documentation/Server/Slots.md. Needs only Python 3.11.
"""
import argparse, http.client, http.server, ipaddress, json, re, sys, urllib.error, urllib.parse, urllib.request

LIMIT = 64 * 1024  # bytes of a request or a reply
PATIENCE = 2  # seconds for the service, and for the slot


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a token goes to its own service only."""

    def redirect_request(self, *_):
        return None


SEND = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay)


class NoAnswer(Exception):
    pass


def ask(url, method, headers, body=None):
    """Status, headers and body of a reply, whatever its status. Raises NoAnswer without a reply, or if it is truncated or not HTTP."""
    try:
        try:
            reply = SEND.open(urllib.request.Request(url, body, headers, method=method), timeout=PATIENCE)
        except urllib.error.HTTPError as refused:
            reply = refused
        with reply:
            bytes = reply.read(LIMIT + 1)
            if len(bytes) > LIMIT:
                raise NoAnswer("more than 64 KiB")
            if reply.length:  # what its Content-Length promised beyond what came; None in chunks, whose end is checked by read
                raise NoAnswer("the reply ended too early")
            return reply.status, reply.headers, bytes
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer(repr(error)) from error


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10  # seconds for the client's next bytes
    options = None  # of the command line

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        length = ",".join(self.headers.get_all("Content-Length", []))
        if not re.fullmatch("[0-9]{1,9}", length) or "Transfer-Encoding" in self.headers:
            return self.refuse(411, "lengthRequired", "The request does not have one Content-Length.")
        if int(length) > LIMIT:
            return self.refuse(413, "bodyTooLarge", "The request has more than 64 KiB.")
        request = self.rfile.read(int(length))
        if len(request) < int(length):
            return self.refuse(400, "bodyTooShort", "The request ended too early.")
        if url.path != "/license":
            return self.refuse(404, "noSuchPath", "There is nothing at this address.")
        named = {name: values[0] for name, values in urllib.parse.parse_qs(url.query).items()}
        try:
            status, headers, body = self.take_slot(named)
            slot = json.loads(body) if status == 200 else None
        except (NoAnswer, ValueError):
            return self.refuse(503, "storeUnavailable", "The streams cannot be counted now.")
        if status != 200:
            return self.answer(status, body, headers, "Content-Type", "Retry-After")
        try:
            status, headers, body = ask(
                self.options.service, "POST",
                {"Content-Type": self.headers.get("Content-Type", "application/octet-stream")}, request)
        except NoAnswer:
            status, headers, body = 502, {}, b""
        if status != 200:
            self.give_back(slot)
        more = {
            "X-Latchkey-Heartbeat-Token": slot.get("heartbeatToken"), "X-Latchkey-Heartbeat": slot.get("heartbeat"),
            "X-Latchkey-Renew-After": slot.get("renewAfter")} if status == 200 else {}
        self.answer(status, body, headers, "Content-Type", "Retry-After", **more)

    def take_slot(self, named):
        body = {name: named[name] for name in ("kid", "asset", "session", "device") if name in named}
        address = self.viewer_address()
        body |= {"drm": self.options.drm} | ({"viewer": {"address": address}} if address else {})
        headers = {"X-API-Key": self.options.key, "Content-Type": "application/json"}
        if "Authorization" in self.headers:
            headers["Authorization"] = self.headers["Authorization"]
        return ask(self.options.slots, "POST", headers, json.dumps(body).encode())

    def viewer_address(self):
        """The viewer's address in the load balancer's header; None without exactly one address."""
        values = self.headers.get_all(self.options.viewer_address) if self.options.viewer_address else None
        if not values or len(values) > 1:
            return None
        try:
            return str(ipaddress.ip_address(values[0].strip()))
        except ValueError:
            return None

    def give_back(self, slot):
        # A slot that was only renewed belongs to a playing stream.
        if slot["state"] != "taken":
            return
        try:
            ask(self.options.slots, "DELETE", {"Authorization": "Bearer " + slot["heartbeatToken"]})
        except NoAnswer as error:
            print(f"a slot was not released, and will expire: {error}", file=sys.stderr)

    def refuse(self, status, code, reason):
        self.answer(status, json.dumps({"error": {"code": code, "reason": reason}}).encode(), {"Content-Type": "application/json"})

    def answer(self, status, body, headers, *names, **more):
        self.send_response(status)
        for name in names or ("Content-Type",):
            if headers.get(name):
                self.send_header(name, headers[name])
        for name, value in more.items():
            if value is not None:
                self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        # One request per connection, so that unread bytes of one viewer's request are never parsed as the next viewer's.
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass  # no token and no address of a viewer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", required=True, help="https://HOST/t/TENANT/slots")
    parser.add_argument("--key", required=True, help="the file of the API key of a caller with the right slots:take")
    parser.add_argument("--drm", required=True, choices=["widevine", "playready", "fairplay", "other"])
    parser.add_argument("--service", required=True, help="where the license service is")
    parser.add_argument(
        "--viewer-address", metavar="HEADER",
        help="the header in which the load balancer states the one address of the viewer, in place of what a client sends; without it none is stated")
    parser.add_argument("--port", type=int, default=8081, help="on loopback; 0 takes a free one")
    Proxy.options = parser.parse_args()
    if (Proxy.options.viewer_address or "").lower() in ("x-forwarded-for", "forwarded"):
        parser.error("--viewer-address: clients write this header, too, and balancers add to what they wrote; name one that yours sets alone")
    with open(Proxy.options.key) as file:
        Proxy.options.key = file.read().strip()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", Proxy.options.port), Proxy)
    print(f"listening at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
