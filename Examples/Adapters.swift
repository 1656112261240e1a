// The adapters are modules in this repository. An app has an adapter's folder in its own target instead of this file, and imports what the
// examples import.
#if canImport(JWPlayerKit)
    @_exported import LatchkeyJWPlayer
    @_exported import LatchkeyOpenTV
    @_exported import LatchkeyTHEOplayer
    @_exported import LatchkeyTVSDK
#endif
