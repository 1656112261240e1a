/// The names of settings that many vendors share. Names of one vendor's settings are in its profile.
package enum SettingName {
    /// The application certificate in base64 or PEM.
    package static let certificate = "certificate"
    /// The address of the application certificate.
    package static let certificateURL = "certificateURL"
    /// The address of the license service.
    package static let licenseURL = "licenseURL"
}
