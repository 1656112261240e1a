import CCurl
import Foundation
import LatchkeyCore

/// An easy handle, with the lists and buffers that it points to. Use it on one thread only.
final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// TLS 1.2.
    private static let lowestTLS = 6

    init?() {
        guard let easy = curl_easy_init() else {
            message.deallocate()
            return nil
        }
        self.easy = easy
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(fields)
        message.deallocate()
    }

    /// libcurl's text about a failure. Inspect it, but do not show it: it may contain the URL.
    var failure: String { String(cString: message) }

    /// OpenSSL's result of verifying the server's certificate; 0 on success.
    var verification: Int { Int(latchkey_curl_number(easy, CURLINFO_SSL_VERIFYRESULT)) }

    /// The system's error number of a failed connection; 0 without an error.
    var systemError: Int32 { Int32(clamping: latchkey_curl_number(easy, CURLINFO_OS_ERRNO)) }

    /// Whether there was a connection that could carry the request.
    var wasConnected: Bool { latchkey_curl_connected_after(easy) > 0 }

    var status: Int { Int(latchkey_curl_number(easy, CURLINFO_RESPONSE_CODE)) }

    /// Sets all options that do not depend on the receiver of the reply.
    func prepare(_ message: CurlMessage, _ configuration: CurlConfiguration) throws(TransportError) {
        let codes =
            [
                latchkey_curl_set_error_text(easy, self.message), latchkey_curl_allow_http_only(easy),
                latchkey_curl_set_sockets(easy, openSocket, closeSocket),
                text(CURLOPT_URL, message.url.absoluteString), number(CURLOPT_PATH_AS_IS, 1),
                // No signals, no files of the user, no redirects. No decompression either, because a decompressed body can have
                // any size.
                number(CURLOPT_NOSIGNAL, 1), number(CURLOPT_FOLLOWLOCATION, 0), number(CURLOPT_NETRC, 0),
                number(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), number(CURLOPT_HTTP09_ALLOWED, 0),
                number(CURLOPT_CONNECTTIMEOUT_MS, Int(message.patience.wholeMilliseconds)),
                text(CURLOPT_USERAGENT, "Latchkey"),
            ] + ways(message) + trust(configuration)
        guard codes.allSatisfy({ $0 == CURLE_OK }), latchkey_curl_quit_quickly(easy) == CURLE_OK else {
            throw TransportError(.transportFailed, "libcurl does not take the request's settings.")
        }
        try setFields(message)
    }

    private func ways(_ message: CurlMessage) -> [CURLcode] {
        // A proxy from the environment cannot reach this machine's loopback interface.
        var codes = message.isLoopback ? [text(CURLOPT_NOPROXY, "*")] : []
        if message.hasBody {
            let length = curl_off_t(message.body?.count ?? 0)
            codes += [number(CURLOPT_POST, 1), latchkey_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, length)]
        } else if message.method == "HEAD" {
            codes.append(number(CURLOPT_NOBODY, 1))
        }
        if !["GET", "HEAD", "POST"].contains(message.method) || message.hasBody != (message.method == "POST") {
            codes.append(text(CURLOPT_CUSTOMREQUEST, message.method))
        }
        return codes
    }

    private func trust(_ configuration: CurlConfiguration) -> [CURLcode] {
        let trusted = TrustedAuthorities(configuration.authorities)
        return [
            trusted.file.map { text(CURLOPT_CAINFO, $0) }, trusted.folder.map { text(CURLOPT_CAPATH, $0) },
            number(CURLOPT_SSL_VERIFYPEER, 1), number(CURLOPT_SSL_VERIFYHOST, 2),
            // TLS 1.3 and 1.2, with the cipher suites of `TLSOffer` for 1.2, independent of the defaults of the libcurl build.
            number(CURLOPT_SSLVERSION, Self.lowestTLS), text(CURLOPT_SSL_CIPHER_LIST, "ECDHE+AESGCM:ECDHE+CHACHA20"),
        ].compactMap(\.self)
    }

    /// Sets the request's header fields. The body is sent immediately, without waiting for `100 Continue`.
    private func setFields(_ message: CurlMessage) throws(TransportError) {
        for line in message.lines + (message.hasBody ? ["Expect:"] : []) {
            guard let longer = curl_slist_append(fields, line) else {
                throw TransportError(.transportFailed, "There is no memory for the request.")
            }
            fields = longer
        }
        guard latchkey_curl_set_list(easy, CURLOPT_HTTPHEADER, fields) == CURLE_OK else {
            throw TransportError(.transportFailed, "libcurl does not take the request's header fields.")
        }
    }

    private func number(_ option: CURLoption, _ value: Int) -> CURLcode {
        latchkey_curl_set_number(easy, option, value)
    }

    private func text(_ option: CURLoption, _ text: String) -> CURLcode { latchkey_curl_set_text(easy, option, text) }
}
