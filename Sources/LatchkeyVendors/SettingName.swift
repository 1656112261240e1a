/// The names of settings that many vendors share. Names of one vendor's settings are in its profile.
enum SettingName {
    /// The application certificate in base64 or PEM.
    static let certificate = "certificate"
    /// The address of the application certificate.
    static let certificateURL = "certificateURL"
    /// The address of the license service.
    static let licenseURL = "licenseURL"
}
