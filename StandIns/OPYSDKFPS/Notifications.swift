public import Foundation

extension Notification.Name {
    /// A license could not be obtained. The object is the kind of failure, and `userInfo` has the error.
    public static let OTVDRMLicenseError = Notification.Name("OTVDRMLicenseError")
    /// A license request has ended. `userInfo` has `success`.
    public static let OTVLicenseDownloadEnded = Notification.Name("OTVLicenseDownloadEnded")
    /// A session could not be set up. `userInfo` has `error` and `message`.
    public static let OTVSSMSetupErrorNotification = Notification.Name("OTVSSMSetupErrorNotification")
    /// A session could not be torn down. `userInfo` has `error` and `message`.
    public static let OTVSSMTeardownErrorNotification = Notification.Name("OTVSSMTeardownErrorNotification")
    /// A heartbeat failed. `userInfo` has `error` and `message`.
    public static let OTVSSMHeartbeatErrorNotification = Notification.Name("OTVSSMHeartbeatErrorNotification")
}

/// The SDK's errors for failed licenses.
enum OTVLicenseFailure {
    /// The React Native plugin uses the number 5007 for a failed license request.
    static func error(_ message: String) -> NSError {
        NSError(domain: "OTVDRMLicenseError", code: 5007, userInfo: [NSLocalizedDescriptionKey: message])
    }

    static func post(_ name: Notification.Name, _ error: NSError, of player: AnyObject? = nil) {
        var information: [String: Any] = ["error": error, "message": error.localizedDescription]
        information[name.rawValue] = error
        NotificationCenter.default.post(name: name, object: player, userInfo: information)
    }
}
