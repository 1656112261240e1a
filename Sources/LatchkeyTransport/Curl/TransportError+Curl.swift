import CCurl
import Foundation
import LatchkeyCore

extension TransportError {
    /// Translates a libcurl result. libcurl's text is inspected but not shown, because it may contain the URL with its token.
    /// - Parameters:
    ///   - verification: OpenSSL's result of verifying the server's certificate; 0 on success.
    ///   - systemError: the system's error number of a failed connection; 0 if unknown.
    ///   - isInHead: whether the head had begun and was not complete.
    init(
        _ code: CURLcode, _ message: CurlMessage, failure: String, verification: Int, systemError: Int32, isInHead: Bool
    ) {
        let (place, number) = (message.place, "(curl \(code.rawValue))")
        switch code {
        case CURLE_OPERATION_TIMEDOUT: self.init(.timedOut, "\(place) did not answer in time \(number).")
        case CURLE_COULDNT_RESOLVE_HOST: self.init(.hostNotFound, "The host of \(place) is unknown \(number).")
        case CURLE_COULDNT_RESOLVE_PROXY:
            self.init(.hostNotFound, "The host of the proxy that the environment names is unknown \(number).")
        case CURLE_COULDNT_CONNECT: self.init(.cannotConnect, Self.unconnected(place, systemError, number))
        case CURLE_PEER_FAILED_VERIFICATION: self = .unverified(place, verification, number)
        case CURLE_SSL_CONNECT_ERROR where Self.answersWithoutTLS(failure):
            self.init(.serverWithoutTLS, "\(place) does not speak TLS \(number).")
        case CURLE_SSL_CONNECT_ERROR where Self.endsWithoutAnswer(failure):
            self.init(
                .tlsFailed,
                "\(place) ended the connection before TLS was established; the port may be one for http \(number).")
        case CURLE_SSL_CACERT_BADFILE:
            self.init(.tlsFailed, "The file of trusted authorities cannot be read, or is not PEM \(number).")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            self.init(.tlsFailed, "No secure connection to \(place) could be made \(number).")
        // libcurl's own limit for one line of a head.
        case CURLE_OUT_OF_MEMORY where isInHead:
            self.init(.headTooLarge, "The head of the reply has too long a line \(number).")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            self.init(.replyMalformed, Self.malformed(place, message, number))
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            self.init(.connectionLost, "The connection to \(place) ended before the reply did \(number).")
        default: self.init(.transportFailed, "The exchange with \(place) failed \(number).")
        }
    }

    private static func unconnected(_ place: String, _ systemError: Int32, _ number: String) -> String {
        systemError == ECONNREFUSED
            ? "\(place) refuses connections: nothing listens there \(number)."
            : "There is no connection to \(place) \(number)."
    }

    private static func malformed(_ place: String, _ message: CurlMessage, _ number: String) -> String {
        let hint = message.isSecure ? "" : "; the port may be one for https"
        return "The reply of \(place) is not valid HTTP\(hint) \(number)."
    }

    /// X509_V_ERR numbers. libcurl itself detects a name mismatch after OpenSSL accepted the certificate, and then reports 0 or 1.
    private static func unverified(_ place: String, _ verification: Int, _ number: String) -> Self {
        switch verification {
        case 0, 1: Self(.serverNameMismatch, "The TLS certificate of \(place) is for another host name \(number).")
        case 9: Self(.serverCertificateExpired, "The TLS certificate of \(place) is not valid yet \(number).")
        case 10: Self(.serverCertificateExpired, "The TLS certificate of \(place) has expired \(number).")
        case 18:
            Self(
                .serverCertificateUntrusted,
                "The TLS certificate of \(place) is self-signed and not trusted \(number).")
        case 62, 64: Self(.serverNameMismatch, "The TLS certificate of \(place) is for another host name \(number).")
        default:
            Self(
                .serverCertificateUntrusted,
                "The TLS certificate of \(place) is not from a trusted authority \(number), OpenSSL \(verification).")
        }
    }

    /// OpenSSL's text for bytes that are not a TLS record.
    private static func answersWithoutTLS(_ failure: String) -> Bool {
        ["wrong version number", "unknown protocol", "http request", "packet length too long", "record layer failure"]
            .contains(where: failure.contains)
    }

    /// OpenSSL's text, or the system's through libcurl, for a server that disconnected during the handshake.
    private static func endsWithoutAnswer(_ failure: String) -> Bool {
        ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset by peer"].contains(where: failure.contains)
    }
}
