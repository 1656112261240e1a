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

/// The method of version 4 that 5.4.1 got an asynchronous form of and 6.0 lost.
///
/// One module cannot have the protocol of both versions, so here it is a protocol of its own. A conforming integration is
/// asked by it where it has no `onExtractFairplayContentId`.
public protocol SynchronousContentIdentifier: ContentProtectionIntegration {
    func extractFairplayContentId(skdUrl: String) -> String
}

/// Makes an integration for each protected stream that asks for it.
public protocol ContentProtectionIntegrationFactory: AnyObject {
    func build(configuration: any DRMConfiguration) -> any ContentProtectionIntegration
}

/// Takes what a certificate response is. One of its methods is called, once.
public protocol CertificateResponseCallback {
    func respond(certificate: Data)
    func error(error: any Error)
}

/// Takes a request to send in place of the player's, or the certificate itself. One of its methods is called, once.
public protocol CertificateRequestCallback: CertificateResponseCallback {
    func request(request: CertificateRequest)
}

/// Takes what a license response is. One of its methods is called, once.
public protocol LicenseResponseCallback {
    func respond(license: Data)
    func error(error: any Error)
}

/// Takes a request to send in place of the player's, or the license itself. One of its methods is called, once.
public protocol LicenseRequestCallback: LicenseResponseCallback {
    func request(request: LicenseRequest)
}

/// Takes a content identifier. One of its methods is called, once.
public protocol ExtractContentIdCallback {
    func respond(contentID: Data?)
    func error(error: any Error)
}
