import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyVault

/// A request's SPC: opened here, or for a licensee's module that makes the CKC.
// Indirect, so that a waiting task holds a reference.
indirect enum RequestedSPC: Sendable {
    case opened(ServerPlaybackContext)
    case forModule(ModuleSPC)

    var assetID: ContentIdentifier {
        switch self {
        case .opened(let context): context.assetID
        case .forModule(let spc): spc.assetID
        }
    }
}

/// An SPC that a licensee's module answers.
///
/// Source: `Documentation/Licensees.md` §6.
struct ModuleSPC: Sendable {
    let module: LicenseeModule
    let spc: Data
    /// The asset by which the key is found. The module's own answer has to name the same.
    let assetID: ContentIdentifier
    /// The device's statements; `nil` where only the module can read them.
    let statements: SPCStatements?
    /// Whether the client named the asset.
    let isStated: Bool

    func ckc(_ key: VaultKey, _ terms: LicenseTerms) async throws(LicenseRefusal) -> Secret {
        let content = key.facts.content.isEmpty ? key.facts.id?.description ?? "" : key.facts.content
        do throws(ModuleFailure) {
            return try await module.ckc(
                for: spc, assetID: assetID, isStated: isStated, contentID: content, key: key.content, terms: terms)
        } catch {
            guard isStated, error.kind == .otherAsset else { throw LicenseRefusal(error) }
            throw .contentMismatch(assetID.description, "another key URI")
        }
    }

    /// Refuses a policy whose rules need facts that could not be read: without them, it would allow more than it says.
    func checkFacts(_ facts: Facts, for policy: Policy) throws(LicenseRefusal) {
        var missing: [String] = []
        if statements == nil,
            [policy.output.airPlay, policy.output.adapter].contains(where: { ($0 ?? .allow) != .allow })
        {
            missing.append("output")
        }
        if facts.request.device == nil, facts.grant.device == nil {
            if policy.devices.limit != nil { missing.append("devices") }
            if policy.blocked.devices?.isEmpty == false { missing.append("blocked.devices") }
            if facts.request.purpose == .download, policy.download.perTitle ?? policy.download.perAccount != nil {
                missing.append("download")
            }
        }
        guard !missing.isEmpty else { return }
        throw LicenseRefusal(
            .vendor(code: "moduleFactsUnread", status: 500),
            reason:
                "The policy has rules on \(missing.joined(separator: ", ")), and this server cannot read the SPC's facts for them.",
            remedy: "Configure the licensee's derivation and opener, too, or change the policy.")
    }
}

extension LicenseIssuer {
    /// Reads an SPC for a licensee's module: here as far as possible; else with the key URI of the request; else by asking the module.
    // Apart, so that nothing of it is in the frame of a task of another licensee.
    @inline(never) func read(
        _ request: Request, _ grant: Grant, of tenant: Tenant, for module: LicenseeModule
    ) async throws(LicenseRefusal) -> RequestedSPC {
        let statements = try await statements(request, grant, of: tenant)
        var assetID = statements?.assetID ?? request.keyURI.map { ContentIdentifier($0) }
        let isStated = statements == nil && assetID != nil
        if assetID == nil {
            do throws(ModuleFailure) { assetID = try await module.assetID(of: request.spc) } catch {
                throw LicenseRefusal(error)
            }
        }
        return .forModule(
            ModuleSPC(
                module: module, spc: request.spc, assetID: assetID ?? "", statements: statements, isStated: isStated))
    }

    private func statements(
        _ request: Request, _ grant: Grant, of tenant: Tenant
    ) async throws(LicenseRefusal) -> SPCStatements? {
        let own = self.module(of: tenant)
        guard !own.credentials.isEmpty else { return nil }
        let (lane, session) = lane(of: request, grant)
        let spc = [UInt8](request.spc)
        return try await pool.run(lane, session: session, tenant: tenant.name) {
            Result { () throws(KSMRefusal) in try own.statements(of: spc) }
        }
        .mapError(\.refusal).flatMap { $0.mapError { LicenseRefusal($0) } }.get()
    }
}

extension LicenseRefusal {
    init(_ failure: ModuleFailure) {
        if let refusal = failure.refusal {
            self.init(refusal)
        } else {
            self.init(
                .vendor(code: failure.code, status: failure.isUnavailable ? 503 : 500), reason: failure.reason,
                remedy: failure.remedy, retryAfter: failure.isUnavailable ? .seconds(1) : nil)
        }
    }
}
