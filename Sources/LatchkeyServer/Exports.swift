// The types of these modules are part of the server's own API, so that a user needs one import only.
@_exported public import LatchkeyCore
@_exported public import LatchkeyDecision
@_exported public import LatchkeySystem
@_exported public import LatchkeyVault
