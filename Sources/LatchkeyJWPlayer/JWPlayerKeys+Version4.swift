#if canImport(JWPlayerKit) || canImport(JWPlayerTVKit)
    public import Foundation
    @_spi(Adapters) import Latchkey

    #if canImport(JWPlayerKit)
        public import JWPlayerKit
    #else
        public import JWPlayerTVKit
    #endif

    nonisolated extension JWPlayerKeys: JWDRMContentKeyDataSource {
        public func contentIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) {
            contentIdentifier(for: url, handler)
        }

        public func appIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) {
            certificate(for: url, handler)
        }

        public func contentKeyWithSPCData(
            _ spcData: Data, completionHandler handler: @escaping (Data?, Date?, String?) -> Void
        ) {
            license(for: spcData, purpose: { stored?.purpose(of: $0) }) { [contentType] license in
                handler(license?.ckc, license?.renewalDate, license.map { _ in contentType })
            }
        }
    }
#endif
