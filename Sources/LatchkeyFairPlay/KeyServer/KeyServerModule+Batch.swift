import LatchkeyCore

extension KeyServerModule {
    /// An SPC, and the module that opens it.
    package struct Opening: Sendable {
        package let module: KeyServerModule
        package let spc: [UInt8]

        package init(module: KeyServerModule, spc: [UInt8]) {
            (self.module, self.spc) = (module, spc)
        }
    }

    /// Opens SPCs. RSA operations with libcrypto's keys run in parallel; other keys and plugged-in openers run one SPC at a time.
    /// - Returns: the result of `open(_:)` for each SPC, in order.
    package static func open(
        _ openings: [Opening], by batch: RSABatch
    ) -> [Result<ServerPlaybackContext, KSMRefusal>] {
        let begun = openings.map { $0.begun() }
        let operations = zip(openings, begun).map { $0.operation($1) }
        var payloadKeys = batch.decryptOAEP(operations.compactMap { $0 }).makeIterator()
        return zip(openings, zip(begun, operations)).map { opening, way in
            // The batch returns one key per operation.
            let payloadKey = way.1.flatMap { _ in payloadKeys.next() }
            return opening.finished(way.0, payloadKey)
        }
    }
}

extension KeyServerModule.Opening {
    fileprivate typealias Begun = Result<KeyServerModule.Begun, KSMRefusal>

    fileprivate func begun() -> Begun { Result { () throws(KSMRefusal) in try module.begin(spc) } }

    /// The RSA operation of a parsed SPC; `nil` if it needs none from libcrypto.
    fileprivate func operation(_ begun: Begun) -> RSABatch.Operation? {
        guard case .success(.sealed(let sealed)) = begun,
            let key = module.credentials[sealed.credentialIndex].key as? RSAPrivateKey
        else { return nil }
        return RSABatch.Operation(key: key, text: sealed.container.bytes[sealed.container.wrappedKeyRange])
    }

    /// - Parameter payloadKey: the batch's result; `nil` for an SPC outside the batch.
    fileprivate func finished(
        _ begun: Begun, _ payloadKey: Secret??
    ) -> Result<ServerPlaybackContext, KSMRefusal> {
        Result { () throws(KSMRefusal) in
            switch try begun.get() {
            case .open(let context): return context
            case .sealed(let sealed):
                let key =
                    if let payloadKey { try KeyServerModule.checked(payloadKey) } else {
                        try module.payloadKey(of: sealed)
                    }
                return try module.context(of: sealed, payloadKey: key)
            }
        }
    }
}
