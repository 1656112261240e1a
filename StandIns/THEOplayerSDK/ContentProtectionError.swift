import Foundation
import StandInPlayers

/// The number of an error.
public enum THEOErrorCode: Int {
    case CONTENT_PROTECTION_ERROR = 7000
    case CONTENT_PROTECTION_INITIALIZATION_INVALID = 7004
    case CONTENT_PROTECTION_CERTIFICATE_ERROR = 7005
    case CONTENT_PROTECTION_CERTIFICATE_INVALID = 7006
    case CONTENT_PROTECTION_LICENSE_ERROR = 7007
    case CONTENT_PROTECTION_LICENSE_INVALID = 7008
    case CONTENT_PROTECTION_KEY_EXPIRED = 7009
    case CONTENT_PROTECTION_INTERNAL_ERROR = 7014
}

/// A player's error.
public protocol THEOError: Error {
    var code: THEOErrorCode { get }
    var message: String { get }
    var cause: (any Error)? { get }
}

/// A player's error concerning keys.
public protocol ContentProtectionError: THEOError {
    var url: String? { get }
    var status: Int? { get }
    var statusText: String? { get }
    var response: String? { get }
    var systemCode: Int? { get }
}

/// The errors of this stand-in's players.
// Sound: all properties are constant.
struct KeyError: ContentProtectionError, CustomNSError, @unchecked Sendable {
    static let errorDomain = "THEOplayer"

    let code: THEOErrorCode
    let message: String
    let cause: (any Error)?
    let url: String? = nil
    let status: Int?
    let response: String? = nil
    let systemCode: Int?

    init(_ failure: KeyFailure) {
        code =
            switch failure {
            case .certificate(_, status: nil): .CONTENT_PROTECTION_CERTIFICATE_ERROR
            case .certificate: .CONTENT_PROTECTION_CERTIFICATE_INVALID
            case .spc: .CONTENT_PROTECTION_CERTIFICATE_INVALID
            case .license(_, status: nil): .CONTENT_PROTECTION_LICENSE_ERROR
            case .license, .badLicense: .CONTENT_PROTECTION_LICENSE_INVALID
            case .unusable: .CONTENT_PROTECTION_KEY_EXPIRED
            case .contentIdentifier, .uri: .CONTENT_PROTECTION_INITIALIZATION_INVALID
            case .nobody, .unanswered, .ended: .CONTENT_PROTECTION_ERROR
            case .mediaServicesReset: .CONTENT_PROTECTION_INTERNAL_ERROR
            }
        message = failure.reason
        cause = failure.underlying
        status = failure.status
        systemCode = failure.underlying?.code
    }

    var statusText: String? { status.map { HTTPURLResponse.localizedString(forStatusCode: $0) } }
    var errorCode: Int { code.rawValue }
    var errorUserInfo: [String: Any] {
        var information: [String: Any] = [NSLocalizedDescriptionKey: message]
        information[NSUnderlyingErrorKey] = cause
        return information
    }
}
