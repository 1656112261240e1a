#if canImport(AVFoundation)
    import AVFoundation
    import Latchkey

    // Advisory keys require the SDKs of 2026 (Xcode 27).
    #if os(Linux) || ((os(iOS) || os(tvOS)) && !targetEnvironment(macCatalyst) && compiler(>=6.4))
        nonisolated extension AVContentKeySession {
            /// Turns on advisory keys if the system supports them. They cannot be turned off again.
            func useAdvisoryKeys() {
                guard #available(iOS 27, tvOS 27, *) else { return }
                supportsAdvisoryKeys = true
            }

            fileprivate var hasAdvisoryKeys: Bool {
                guard #available(iOS 27, tvOS 27, *) else { return false }
                return supportsAdvisoryKeys
            }
        }

        nonisolated extension AVContentKeyRequest {
            /// Makes an SPC with the call that the session's mode requires. The other call raises an exception.
            func makeSPC(
                _ session: AVContentKeySession, _ certificate: Data, _ identifier: Data,
                _ options: [String: any Sendable],
                _ reply: @escaping @Sendable (Result<Data?, any Error>) -> Void
            ) {
                guard session.hasAdvisoryKeys, #available(iOS 27, tvOS 27, *) else {
                    return makePlainSPC(certificate, identifier, options, reply)
                }
                makeOptionalStreamingContentKeyRequestData(
                    forApp: certificate, contentIdentifier: identifier, options: options
                ) { [self] spc, error in
                    let isHeld = spc == nil && error == nil && canBeFulfilledWithAdvisoryKey
                    reply(isHeld ? .success(nil) : .spc(spc, error))
                }
            }
        }
    #else
        nonisolated extension AVContentKeySession {
            func useAdvisoryKeys() {}
        }

        nonisolated extension AVContentKeyRequest {
            func makeSPC(
                _ session: AVContentKeySession, _ certificate: Data, _ identifier: Data,
                _ options: [String: any Sendable],
                _ reply: @escaping @Sendable (Result<Data?, any Error>) -> Void
            ) {
                makePlainSPC(certificate, identifier, options, reply)
            }
        }
    #endif

    nonisolated extension AVContentKeyRequest {
        fileprivate func makePlainSPC(
            _ certificate: Data, _ identifier: Data, _ options: [String: any Sendable],
            _ reply: @escaping @Sendable (Result<Data?, any Error>) -> Void
        ) {
            // The asynchronous form traps if the completion is called twice, or with neither data nor an error.
            makeStreamingContentKeyRequestData(
                forApp: certificate, contentIdentifier: identifier, options: options
            ) { spc, error in reply(.spc(spc, error)) }
        }
    }

    nonisolated extension Result where Success == Data?, Failure == any Error {
        /// Converts the arguments of an AVFoundation completion to a result.
        fileprivate static func spc(_ spc: Data?, _ error: (any Error)?) -> Self {
            spc.map { .success($0) } ?? .failure(error ?? ContentKeyError.noSPC)
        }
    }
#endif
