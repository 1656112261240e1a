import Foundation
import LatchkeyCore
import LatchkeyPlayback

/// Counts what the key server allocates, libcrypto's allocations included.
///
/// The process starts itself once more with a small C library in front of the allocator, which is compiled for the
/// occasion; nothing else sees each allocation without slowing down every other figure.
struct AllocationCount: Codable, Sendable, Equatable {
    /// Allocations for one CKC.
    let whole: Double
    /// Those of the RSA operation among them.
    let rsa: Double

    /// Builds the counter, and counts in a process of its own. Blocks.
    /// - Parameter flag: the option by which the process is told to count.
    /// - Throws: a `Diagnosis` if no compiler, or no allocator that can be counted, is there.
    static func measured(by flag: String) throws -> AllocationCount {
        #if os(Linux)
            let folder = try WorkingFolder()
            defer { folder.remove() }
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            let source = folder.url.appending(path: "counter.c")
            let library = folder.url.appending(path: "counter.so")
            try Data(counter.utf8).write(to: source)
            let compiler = try ToolRun.find("clang", "cc", "gcc")
            _ = try ToolRun.output(of: compiler, ["-O1", "-shared", "-fPIC", "-o", library.path, source.path])
            guard let itself = Bundle.main.executableURL else { throw Diagnosis.toolMissing("path to this program") }
            let output = try ToolRun.output(
                of: itself, [flag], environment: ["LD_PRELOAD": library.path])
            return try JSONDecoder().decode(AllocationCount.self, from: Data(output.utf8))
        #else
            throw Diagnosis.notOnThisSystem
        #endif
    }

    /// Counts in this process, which has the counter in front of its allocator.
    static func counted() throws -> AllocationCount {
        typealias Counter = @convention(c) () -> UInt
        guard let symbol = dlsym(nil, "latchkey_allocations") else {
            throw Diagnosis.toolFailed("LD_PRELOAD", "the counter is not there")
        }
        let counter = unsafeBitCast(symbol, to: Counter.self)
        let bench = try KeyServerBench(bits: 2048)
        let count = { (work: (Int) throws -> Void) in
            // The first round fetches algorithms and fills pools; the second one is what each further CKC costs.
            for number in bench.spcs.indices { try work(number) }
            let start = counter()
            for number in bench.spcs.indices { try work(number) }
            return Double(counter() - start) / Double(bench.spcs.count)
        }
        return AllocationCount(whole: try count(bench.answer), rsa: try count(bench.unwrap))
    }

    private static let counter = """
        #include <errno.h>
        #include <stddef.h>
        void *__libc_malloc(size_t);
        void *__libc_calloc(size_t, size_t);
        void *__libc_realloc(void *, size_t);
        void *__libc_memalign(size_t, size_t);
        static __thread unsigned long count __attribute__((tls_model("initial-exec")));
        unsigned long latchkey_allocations(void) { return count; }
        void *malloc(size_t size) { count++; return __libc_malloc(size); }
        void *calloc(size_t number, size_t size) { count++; return __libc_calloc(number, size); }
        void *realloc(void *old, size_t size) { count++; return __libc_realloc(old, size); }
        void *memalign(size_t alignment, size_t size) { count++; return __libc_memalign(alignment, size); }
        void *aligned_alloc(size_t alignment, size_t size) { count++; return __libc_memalign(alignment, size); }
        int posix_memalign(void **result, size_t alignment, size_t size) {
            count++;
            *result = __libc_memalign(alignment, size);
            return *result ? 0 : ENOMEM;
        }
        """
}
