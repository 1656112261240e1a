#if os(Linux)
    /// The transport of this system: over libcurl on Linux, over `URLSession` elsewhere.
    public typealias SystemTransport = CurlTransport
#else
    /// The transport of this system: over `URLSession`; on Linux over libcurl.
    public typealias SystemTransport = URLSessionTransport
#endif
