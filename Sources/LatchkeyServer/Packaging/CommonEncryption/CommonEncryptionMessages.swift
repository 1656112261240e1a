import Foundation

/// What a packager sends: the request's JSON in base64, and who signed it.
struct CommonEncryptionEnvelope: Decodable {
    let request: String
    let signature: String?
    let signer: String?
}

/// The request inside the envelope. What else it says is ignored.
struct CommonEncryptionRequest: Decodable {
    struct Track: Decodable {
        let type: String
    }

    let contentID: String
    let tracks: [Track]
    let systems: [String]?
    let scheme: String?
    let firstPeriod: UInt32?
    let periodCount: UInt32?

    enum CodingKeys: String, CodingKey {
        case contentID = "content_id"
        case tracks
        case systems = "drm_types"
        case scheme = "protection_scheme"
        case firstPeriod = "first_crypto_period_index"
        case periodCount = "crypto_period_count"
    }
}

/// The reply's envelope.
struct CommonEncryptionReply: Encodable {
    let response: String
}

/// The reply inside the envelope. One that fails has a status alone: the packager prints it.
struct CommonEncryptionResult: Encodable {
    struct System: Encodable {
        let type: String
        let systemID: String

        enum CodingKeys: String, CodingKey {
            case type
            case systemID = "system_id"
        }
    }

    struct Box: Encodable {
        let type: String
        let data: String

        enum CodingKeys: String, CodingKey {
            case type = "drm_type"
            case data
        }
    }

    struct Track: Encodable {
        let type: String
        let keyID: String
        let key: String
        let iv: String
        let boxes: [Box]
        let period: UInt32?

        enum CodingKeys: String, CodingKey {
            case type
            case keyID = "key_id"
            case key
            case iv
            case boxes = "pssh"
            case period = "crypto_period_index"
        }
    }

    let status: String
    var systems: [System]?
    var isUsed: Bool?
    var tracks: [Track]?

    enum CodingKeys: String, CodingKey {
        case status
        case systems = "drm"
        case isUsed = "already_used"
        case tracks
    }
}
