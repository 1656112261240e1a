import LatchkeyHTTP
import LatchkeyServer

extension ServiceCall {
    /// The certificate as a file to `GET`, in DER form.
    func certificateFile() throws(LicenseRefusal) -> HTTPResponse {
        try require("GET", "HEAD")
        return .octets(try certificate())
    }
}
