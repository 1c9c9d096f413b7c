"""Tries the example for receivers (docs/receivers/verify.py) on what comes in as JSON; says ok at the end."""

import json
import sys

import jwt

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from verify import is_signed, verify_token

given = json.load(sys.stdin)
vectors = given["vectors"]
expected = (vectors["jwks"], vectors["issuer"], vectors["audience"])

for case in given["cases"]:
    genuine = is_signed(case["secret"], case["headers"], case["body"].encode(), case["nowS"])
    assert genuine == case["genuine"], case["why"]

for algorithm, token in vectors["tokens"].items():
    claims = verify_token(token, *expected)
    assert (claims["jti"], claims["taskId"]) == (vectors["id"], vectors["taskId"]), algorithm

for why, token in vectors["badTokens"].items():
    try:
        verify_token(token, *expected)
    except jwt.PyJWTError:
        continue
    raise AssertionError(why)

print(f"{len(given['cases'])} notifications and {len(vectors['badTokens'])} bad tokens: ok")
