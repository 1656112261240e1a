// The services' own API uses types of these modules, so a user needs only one import.
@_exported public import LatchkeyCore
@_exported public import LatchkeyFairPlay
@_exported public import LatchkeyHTTP
@_exported public import LatchkeyMedia
