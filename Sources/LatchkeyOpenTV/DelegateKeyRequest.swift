#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    /// A call of the license delegate, in the form that the loader uses: the SPC exists, and a thread waits for the answer.
    // Sound: constants of sendable types, and a weak reference that is set once.
    nonisolated final class DelegateKeyRequest: PlayerKeyRequest, @unchecked Sendable {
        let keyURI: KeyURI
        let purpose: KeyPurpose
        let asset: AssetID?
        let player: PlayerID
        let reply = BlockedReply<Data>()
        private let spc: Data
        /// The certificate of the SPC; `nil` if it needs no check.
        private let certificate: Data?
        private let report: @Sendable (ContentKeyError) -> Void
        /// Deallocated with its player.
        private weak var session: AVContentKeySession?
        private let request: AVContentKeyRequest?

        init(
            _ key: KeyURI, _ spc: Data, _ session: AVContentKeySession?, _ request: AVContentKeyRequest?,
            of asset: AssetID?, certificate: Data?, unnamed: PlayerID,
            report: @escaping @Sendable (ContentKeyError) -> Void
        ) {
            keyURI = key
            purpose = request?.renewsExpiringResponseData == true ? .renewal : .streaming
            player = session.map { PlayerID("OTV \(ObjectIdentifier($0))") } ?? unnamed
            self.asset = asset
            self.spc = spc
            self.certificate = certificate
            self.report = report
            self.session = session
            self.request = request
        }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
            guard self.certificate.map({ $0 == certificate }) ?? true else { throw ContentKeyError.otherCertificate }
            return spc
        }

        func answer(_ result: Result<Data, ContentKeyError>) { reply.give(result) }

        func renew() -> Bool {
            guard let session, let request else { return false }
            session.renewExpiringResponseData(for: request)
            return true
        }

        /// Reports nothing if the player no longer exists.
        func ended(_ error: ContentKeyError) { if request == nil || session != nil { report(error) } }
    }

    nonisolated extension ContentKeyError {
        fileprivate static let otherCertificate = ContentKeyError(
            .spcFailed, stage: .spc, "The SPC was made for another application certificate than this key's.",
            remedy: "Give all loaders of the license delegate the same application certificate.")
    }
#endif
