import CCurl
import Foundation
import LatchkeyCore
import LatchkeySystem

// libcurl calls these on a loop's thread. They are not closures and are declared outside `main.swift`, so that no actor is asserted.

/// Opens a socket for libcurl. If the process's budget is exhausted, the request fails.
func openSocket(
    context: UnsafeMutableRawPointer?, purpose: curlsocktype, address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address else { return CURL_SOCKET_BAD }
    guard OpenFileBudget.process.take(for: .own) else {
        OpenFileBudget.process.makeRoom()
        return CURL_SOCKET_BAD
    }
    let socket = latchkey_curl_open_socket(address)
    if socket < 0 { OpenFileBudget.process.give() }
    return socket
}

/// Closes a socket that libcurl no longer needs.
func closeSocket(context: UnsafeMutableRawPointer?, socket: curl_socket_t) -> Int32 {
    let status = close(socket)
    OpenFileBudget.process.give()
    return status
}
