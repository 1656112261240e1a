public import LatchkeyCore
public import LatchkeyHTTP

extension HTTPServerError: DiagnosableError {}
