@_spi(Integrations) package import LatchkeyVendors

extension LoaderConfiguration {
    /// Whether a loader remembers what support needs: its latest events, requests and replies, without secrets.
    ///
    /// The product `LatchkeySupport` has what remembers, and the pages that are made of it, so that an app without it carries neither
    /// the code nor the memory.
    public struct Recording: Sendable {
        /// Makes the record of one loader, from its integration and a seed of the loader's own; `nil` for none.
        package let record: (@Sendable (any VendorIntegration, UInt64) -> any LoaderRecord)?

        /// Remembers nothing.
        public static let off = Self(record: nil)

        package init(record: (@Sendable (any VendorIntegration, UInt64) -> any LoaderRecord)?) { self.record = record }
    }
}
