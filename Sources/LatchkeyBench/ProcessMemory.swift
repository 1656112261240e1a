import Foundation

/// The resident memory of this process, in bytes; `nil` if the system does not report it.
var residentBytes: Int? {
    // Returns the allocator's freed memory to the system first.
    if let symbol = dlsym(nil, "malloc_trim") {
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
    }
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return fields?.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
}
