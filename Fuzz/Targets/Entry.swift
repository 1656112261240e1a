import Foundation

/// libFuzzer calls this with each input. The environment variable `FUZZ_TARGET` names the parser to run.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen(Data(UnsafeRawBufferPointer(start: start, count: count)))
    return 0
}

private let chosen: @Sendable (Data) -> Void = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = targets[name] else {
        FileHandle.standardError.write(Data("FUZZ_TARGET is none of \(targets.keys.sorted())\n".utf8))
        exit(64)
    }
    return target
}()

/// The targets by name. The corpus folder of a target has the same name.
private let targets: [String: @Sendable (Data) -> Void] = [
    "playlist": fuzzPlaylist, "spc": fuzzSPC, "spc-payload": fuzzSPCPayload, "ckc": fuzzCKC,
    "certificate": fuzzCertificate, "token": fuzzToken, "profile": fuzzProfile, "json": fuzzJSON, "form": fuzzForm,
    "multipart": fuzzMultipart, "request-target": fuzzRequestTarget, "jwt": fuzzJWT, "cpix": fuzzCPIX,
    "resp": fuzzRESP, "policy": fuzzPolicy, "zip": fuzzZip, "capture": fuzzCapture, "body": fuzzBody,
    "head": fuzzHead, "chunks": fuzzChunks, "row": fuzzRow, "frame": fuzzFrame, "discovery": fuzzDiscovery,
]

/// Ends the process. libFuzzer takes that for a crash and keeps the input.
func require(_ holds: Bool, _ text: StaticString) {
    precondition(holds, text.description)
}
