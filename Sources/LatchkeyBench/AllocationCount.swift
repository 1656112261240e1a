import Foundation
import LatchkeyCore
import LatchkeyPlayback

/// The allocations of a piece of work, including libcrypto's.
struct AllocationCount: Codable, Sendable, Equatable {
    let allocations: Double
    let bytes: Double

    static func - (one: Self, other: Self) -> Self {
        Self(allocations: one.allocations - other.allocations, bytes: one.bytes - other.bytes)
    }

    func divided(by number: Int) -> Self {
        Self(allocations: allocations / Double(number), bytes: bytes / Double(number))
    }
}

/// Counts the allocations of a process that is started with a small C library in front of its allocator.
///
/// The library is compiled when needed; nothing else sees each allocation without slowing down every other figure.
struct AllocationCounter: Sendable {
    /// The environment variables that make a process count.
    let environment: [String: String]
    private let counts: URL

    /// Builds the library. Blocks.
    /// - Parameter folder: the output folder; its creator removes it.
    /// - Throws: a `Diagnosis` if there is no compiler, or no allocator that can be counted.
    init(in folder: URL) throws {
        #if os(Linux)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let source = folder.appending(path: "counter.c")
            let library = folder.appending(path: "counter.so")
            counts = folder.appending(path: "counts")
            try Data(Self.library.utf8).write(to: source)
            try Data(count: 16).write(to: counts)
            let compiler = try ToolRun.find("clang", "cc", "gcc")
            _ = try ToolRun.output(of: compiler, ["-O1", "-shared", "-fPIC", "-o", library.path, source.path])
            environment = ["LD_PRELOAD": library.path, Self.variable: counts.path]
        #else
            throw Diagnosis.notOnThisSystem
        #endif
    }

    /// The counter that this process was started with.
    /// - Throws: `toolFailed` if it was started without.
    init(ofThisProcess: ()) throws {
        guard let path = ProcessInfo.processInfo.environment[Self.variable] else {
            throw Diagnosis.toolFailed("LD_PRELOAD", "the counter is missing")
        }
        (counts, environment) = (URL(filePath: path), [:])
    }

    /// The process's allocations so far.
    func count() throws -> AllocationCount {
        let numbers = try Data(contentsOf: counts).withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 8).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) }
        }
        guard numbers.count == 2, numbers[0] > 0 else {
            throw Diagnosis.toolFailed("LD_PRELOAD", "nothing was counted")
        }
        return AllocationCount(allocations: Double(numbers[0]), bytes: Double(numbers[1]))
    }

    /// The allocations of a piece of work. It is done twice: the first time fetches algorithms and fills pools.
    /// - Parameter pieces: the number of pieces in the work.
    func count(_ pieces: Int, _ work: () throws -> Void) throws -> AllocationCount {
        try work()
        let start = try count()
        try work()
        return (try count() - start).divided(by: pieces)
    }

    private static let variable = "LATCHKEY_ALLOCATION_COUNTS"
    /// The counts are in a file that both processes map.
    private static let library = """
        #include <errno.h>
        #include <fcntl.h>
        #include <stddef.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <unistd.h>
        void *__libc_malloc(size_t);
        void *__libc_calloc(size_t, size_t);
        void *__libc_realloc(void *, size_t);
        void *__libc_memalign(size_t, size_t);
        static unsigned long own[2], *counts = own;
        __attribute__((constructor)) static void begin(void) {
            const char *path = getenv("\(variable)");
            int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
            if (file < 0) return;
            void *shared = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (shared != MAP_FAILED) counts = shared;
            close(file);
        }
        static size_t count(size_t size) {
            __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
            __atomic_fetch_add(&counts[1], size, __ATOMIC_RELAXED);
            return size;
        }
        void *malloc(size_t size) { return __libc_malloc(count(size)); }
        void *calloc(size_t number, size_t size) { count(number * size); return __libc_calloc(number, size); }
        void *realloc(void *old, size_t size) { return __libc_realloc(old, count(size)); }
        void *memalign(size_t alignment, size_t size) { return __libc_memalign(alignment, count(size)); }
        void *aligned_alloc(size_t alignment, size_t size) { return __libc_memalign(alignment, count(size)); }
        int posix_memalign(void **result, size_t alignment, size_t size) {
            *result = __libc_memalign(alignment, count(size));
            return *result ? 0 : ENOMEM;
        }
        """
}

extension Bench {
    /// The allocations of a CKC, without those of RSA.
    func allocations() async throws -> [Figure] {
        progress("Counting allocations")
        let folder = try WorkingFolder()
        defer { folder.remove() }
        let counter = try AllocationCounter(in: folder.url)
        guard let itself = Bundle.main.executableURL else { throw Diagnosis.toolMissing("path to this program") }
        let output = try ToolRun.output(of: itself, [countingFlag], environment: counter.environment)
        let count = try JSONDecoder().decode(OwnCount.self, from: Data(output.utf8))
        let (whole, rsa) = (count.whole.allocations.shown(places: 1), count.rsa.allocations.shown(places: 1))
        return [
            Figure(
                name: "Allocations outside RSA per CKC", value: count.whole.allocations - count.rsa.allocations,
                unit: .allocations, aim: .below(60), note: "\(whole) in all, \(rsa) of them in libcrypto's RSA")
        ] + count.captures.figures
    }

    /// The allocations of this process, which was started with a counter, for a CKC and for captures.
    static func ownCount() throws -> OwnCount {
        let counter = try AllocationCounter(ofThisProcess: ())
        let bench = try KeyServerBench(bits: 2048)
        let count = { (work: (Int) throws -> Void) in
            try counter.count(bench.spcs.count) { for number in bench.spcs.indices { try work(number) } }
        }
        let (short, long) = (try CaptureBench(size: 1), try CaptureBench(size: 2))
        return OwnCount(
            whole: try count(bench.answer), rsa: try count(bench.unwrap),
            captures: CaptureCount(
                short: try counter.count(short.archive.count / 1_000, short.identify),
                long: try counter.count(long.archive.count / 1_000, long.identify)))
    }

    struct OwnCount: Codable, Sendable, Equatable {
        /// The allocations of one CKC.
        let whole: AllocationCount
        /// The part of it that the RSA operation allocates.
        let rsa: AllocationCount
        let captures: CaptureCount
    }
}
