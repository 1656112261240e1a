import LatchkeyCore

extension PolicyEvaluation {
    /// A key in a page's hands is kept by nothing on the device: no policy that relies on the device gives it away.
    ///
    /// Source: `Documentation/LicenseServer.md` §10.
    mutating func checkClearKey() {
        guard request.drm == .clearKey else { return }
        if policy.output.hdcp?.values.contains(where: { $0 != .notRequired }) == true {
            refuse(.output, "The policy needs HDCP, which Clear Key cannot enforce.")
        }
        if mayDownload {
            refuse(.right, "The policy allows stored keys, whose expiry Clear Key cannot enforce.", section: .download)
        }
    }
}
