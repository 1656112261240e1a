public import Foundation

extension Notification.Name {
    /// There is no license; the object says which kind of failure, `userInfo` has the error.
    public static let OTVDRMLicenseError = Notification.Name("OTVDRMLicenseError")
    /// A license request came to its end; `userInfo` has `success`.
    public static let OTVLicenseDownloadEnded = Notification.Name("OTVLicenseDownloadEnded")
    /// A session was not set up; `userInfo` has `error` and `message`.
    public static let OTVSSMSetupErrorNotification = Notification.Name("OTVSSMSetupErrorNotification")
    /// A session was not torn down; `userInfo` has `error` and `message`.
    public static let OTVSSMTeardownErrorNotification = Notification.Name("OTVSSMTeardownErrorNotification")
    /// A heartbeat failed; `userInfo` has `error` and `message`.
    public static let OTVSSMHeartbeatErrorNotification = Notification.Name("OTVSSMHeartbeatErrorNotification")
}

/// How the SDK tells of failures.
enum OTVLicenseFailure {
    /// 5007 is the number that the React Native plugin has for a license request that failed.
    static func error(_ message: String) -> NSError {
        NSError(domain: "OTVDRMLicenseError", code: 5007, userInfo: [NSLocalizedDescriptionKey: message])
    }

    static func post(_ name: Notification.Name, _ error: NSError, of player: AnyObject? = nil) {
        var information: [String: Any] = ["error": error, "message": error.localizedDescription]
        information[name.rawValue] = error
        NotificationCenter.default.post(name: name, object: player, userInfo: information)
    }
}
