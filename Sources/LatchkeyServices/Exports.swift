// The types of these modules stand in the services' own API, so that a user needs one import only.
@_exported public import LatchkeyCore
@_exported public import LatchkeyFairPlay
@_exported public import LatchkeyHTTP
@_exported public import LatchkeyMedia
