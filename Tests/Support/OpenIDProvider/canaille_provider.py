"""Canaille, an OpenID provider, on a free port of loopback with TLS, until it is killed.

usage: canaille_provider.py CERTIFICATE KEY REDIRECT_URI SIGNED_OUT_URI

Keeps everything in memory: one client and two people, of whom one is in a group. Prints its issuer when it takes connections. A line on
standard input makes it sign with another key from then on.
"""

import asyncio
import logging
import os
import socket
import sys
import threading

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from hypercorn.asyncio import serve
from hypercorn.config import Config
from joserfc import jwk


def key():
    return jwk.RSAKey.generate_key(2048, auto_kid=True).as_dict(private=True)


def main(certificate, private_key, redirect, signed_out):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.set_inheritable(True)
    port = listener.getsockname()[1]
    app = create_app(
        config={
            "SECRET_KEY": os.urandom(16).hex(),
            "SERVER_NAME": f"localhost:{port}",
            "PREFERRED_URL_SCHEME": "https",
            "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "HTMX": False, "ENABLE_INTRUDER_LOCKOUT": False},
            "CANAILLE_OIDC": {"ACTIVE_JWKS": [key()], "TRUSTED_DOMAINS": ["localhost"]},
        }
    )
    with app.app_context(), Backend.instance.session():
        people = []
        for name in ["ada", "bob"]:
            person = models.User(
                user_name=name, password="correct horse", emails=[f"{name}@example.org"], family_name="Example",
                formatted_name=f"{name.title()} Example", display_name=name,
            )
            Backend.instance.save(person)
            people.append(person)
        Backend.instance.save(models.Group(display_name="video-operators", members=people[:1]))
        client = models.Client(
            client_id="latchkey", client_secret="not a secret: a test's", client_name="Latchkey",
            client_uri="https://localhost", redirect_uris=[redirect], post_logout_redirect_uris=[signed_out],
            grant_types=["authorization_code"], response_types=["code"], scope=["openid", "profile", "groups"],
            token_endpoint_auth_method="client_secret_basic", id_token_signed_response_alg="RS256",
        )
        Backend.instance.save(client)
        client.audience = [client]
        Backend.instance.save(client)

    def rotate():
        for _ in sys.stdin:
            app.config["CANAILLE_OIDC"]["ACTIVE_JWKS"] = [key()]
            print("rotated", flush=True)

    threading.Thread(target=rotate, daemon=True).start()
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.certfile, config.keyfile = certificate, private_key
    config.errorlog = None
    logging.disable(logging.WARNING)
    print(f"issuer https://localhost:{port}", flush=True)
    asyncio.run(serve(app, config))


main(*sys.argv[1:])
