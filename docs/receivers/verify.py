"""Verifies notifications of a2a-edge. Python 3.10 or newer; the JWT needs PyJWT: pip install 'pyjwt[crypto]'."""

import base64
import hashlib
import hmac
import time

TOLERANCE_S = 300


def is_signed(secret: str, headers: dict[str, str], body: bytes, now_s: float | None = None) -> bool:
    """Whether a notification was signed with the secret, and is not an old one.

    `headers` are those of the request, by names in lower case; `body` is its body as it came.
    """
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    now_s = time.time() if now_s is None else now_s
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(now_s - int(timestamp)) > TOLERANCE_S:
        return False

    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    if len(key) < 24:
        raise ValueError("the secret must be whsec_ and base64")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # There may be several, separated by spaces, while a secret is being replaced.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(signature.encode(), expected.encode()) for signature in given)


def verify_token(token: str, jwks: dict, issuer: str, audience: str) -> dict:
    """The claims of a JWT, if it is genuine; raises jwt.PyJWTError otherwise.

    `jwks` is what the agents' server gives at /.well-known/jwks.json (jwt.PyJWKClient fetches and keeps it), `issuer`
    that server's origin, `audience` the origin of your webhook.
    """
    import jwt

    kid = jwt.get_unverified_header(token).get("kid")
    key = next((key for key in jwt.PyJWKSet.from_dict(jwks).keys if key.key_id == kid), None)
    if key is None or key.algorithm_name not in ("ES256", "EdDSA"):
        raise jwt.InvalidKeyError("unknown key")
    # The key says which algorithm is right, never the token.
    required = {"require": ["exp", "iss", "aud"]}
    return jwt.decode(token, key, [key.algorithm_name], required, issuer=issuer, audience=audience)
