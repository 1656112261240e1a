public import Foundation
import StandInEngine

/// Takes part in the requests for a stream's keys. Every method is optional; the player has a default for each.
public protocol ContentProtectionIntegration: AnyObject {
    func onCertificateRequest(request: CertificateRequest, callback: any CertificateRequestCallback)
    func onCertificateResponse(response: CertificateResponse, callback: any CertificateResponseCallback)
    func onLicenseRequest(request: LicenseRequest, callback: any LicenseRequestCallback)
    func onLicenseResponse(response: LicenseResponse, callback: any LicenseResponseCallback)
    func onExtractFairplayContentId(skdUrl: String, callback: any ExtractContentIdCallback)
}

extension ContentProtectionIntegration {
    public func onCertificateRequest(request: CertificateRequest, callback: any CertificateRequestCallback) {
        CallbackProbe.noteDefault()
    }

    public func onCertificateResponse(response: CertificateResponse, callback: any CertificateResponseCallback) {
        CallbackProbe.noteDefault()
    }

    public func onLicenseRequest(request: LicenseRequest, callback: any LicenseRequestCallback) {
        CallbackProbe.noteDefault()
    }

    public func onLicenseResponse(response: LicenseResponse, callback: any LicenseResponseCallback) {
        CallbackProbe.noteDefault()
    }

    public func onExtractFairplayContentId(skdUrl: String, callback: any ExtractContentIdCallback) {
        CallbackProbe.noteDefault()
    }
}

/// A method of version 4. Version 5.4.1 added an asynchronous form, and 6.0 removed this one.
///
/// One module cannot have the protocol of both versions, so here it is a separate protocol. It is used for conforming
/// integrations without `onExtractFairplayContentId`.
public protocol SynchronousContentIdentifier: ContentProtectionIntegration {
    func extractFairplayContentId(skdUrl: String) -> String
}

/// Makes an integration for each protected stream that names it.
public protocol ContentProtectionIntegrationFactory: AnyObject {
    func build(configuration: any DRMConfiguration) -> any ContentProtectionIntegration
}

/// Receives the content of a certificate response. Call one of its methods, once.
public protocol CertificateResponseCallback {
    func respond(certificate: Data)
    func error(error: any Error)
}

/// Receives a request to send instead of the player's, or the certificate itself. Call one of its methods, once.
public protocol CertificateRequestCallback: CertificateResponseCallback {
    func request(request: CertificateRequest)
}

/// Receives the content of a license response. Call one of its methods, once.
public protocol LicenseResponseCallback {
    func respond(license: Data)
    func error(error: any Error)
}

/// Receives a request to send instead of the player's, or the license itself. Call one of its methods, once.
public protocol LicenseRequestCallback: LicenseResponseCallback {
    func request(request: LicenseRequest)
}

/// Receives a content identifier. Call one of its methods, once.
public protocol ExtractContentIdCallback {
    func respond(contentID: Data?)
    func error(error: any Error)
}
