// The adapters are modules in this repository. An app includes an adapter's folder in its own target instead of this file, and
// imports the same modules as the examples.
#if canImport(JWPlayerKit)
    @_exported import LatchkeyJWPlayer
    @_exported import LatchkeyOpenTV
    @_exported import LatchkeyTHEOplayer
    @_exported import LatchkeyTVSDK
#endif
