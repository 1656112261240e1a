// Prints 2. Swift 6.3.1 prints 0 with -O: Documentation/Decisions/0013-compiler-bugs.md
@inline(never) func answer(_ number: Int) async throws -> String {
    if number == 2 { return "" } else { throw CancellationError() }
}
await withTaskGroup(of: (Int, Result<String, any Error>).self) { group in
    group.addTask {
        let number = 2
        do { return (number, .success(try await answer(number))) } catch { return (number, .failure(error)) }
    }
    print(await group.next()?.0 ?? -1)
}
