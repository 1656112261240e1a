"""What the server of this checkout knows of outages. The one place to switch on what has been merged, for Scripts/cluster and
Scripts/check-deployment.
"""

# A node's sealed copy of seeds and keys, beside its configuration: {"copy": "sqlite:copy.db"}. The examples in Deployment have it with this:
# "copy": "sqlite:/var/lib/latchkey/copy.db"
STORES = {"copy": "sqlite:copy.db"}

# Keys that no packager asked for are derived: {"unlisted": "derive"}. Then "derived, never packaged" is among the keys that are compared.
UNLISTED = {"unlisted": "derive"}

# Tenants have to be made, by `latchkey-server tenant create NAME --config FILE`: True. The Job and compose.yaml do it with this.
CREATES_TENANTS = True
