// Own text: XML, JSON, dates, files and processes, as far as the rooms use them.
// Source: public bindings (objc2, dotnet/macios) and Apple's documentation pages; first written 22 November 2026.
#pragma once
#pragma clang assume_nonnull begin
@protocol NSXMLParserDelegate;
__attribute__((swift_name("XMLParser")))
@interface NSXMLParser : NSObject
- (instancetype)initWithData:(NSData *)data NS_DESIGNATED_INITIALIZER;
@property (nullable, assign) id <NSXMLParserDelegate> delegate;
@property BOOL shouldProcessNamespaces;
@property BOOL shouldResolveExternalEntities;
- (BOOL)parse;
- (void)abortParsing;
@property (nullable, readonly, copy) NSError *parserError;
@end
__attribute__((swift_name("XMLParserDelegate")))
@protocol NSXMLParserDelegate <NSObject>
@optional
- (void)parser:(NSXMLParser *)parser didStartElement:(NSString *)elementName namespaceURI:(nullable NSString *)namespaceURI qualifiedName:(nullable NSString *)qName attributes:(NSDictionary<NSString *, NSString *> *)attributeDict;
- (void)parser:(NSXMLParser *)parser didEndElement:(NSString *)elementName namespaceURI:(nullable NSString *)namespaceURI qualifiedName:(nullable NSString *)qName;
- (void)parser:(NSXMLParser *)parser foundCharacters:(NSString *)string;
- (void)parser:(NSXMLParser *)parser foundCDATA:(NSData *)CDATABlock;
- (void)parser:(NSXMLParser *)parser parseErrorOccurred:(NSError *)parseError;
@end
typedef NS_OPTIONS(NSUInteger, NSJSONReadingOptions) { NSJSONReadingMutableContainers = 1, NSJSONReadingMutableLeaves = 2, NSJSONReadingFragmentsAllowed = 4 } __attribute__((swift_name("JSONSerialization.ReadingOptions")));
typedef NS_OPTIONS(NSUInteger, NSJSONWritingOptions) { NSJSONWritingPrettyPrinted = 1, NSJSONWritingSortedKeys = 2, NSJSONWritingFragmentsAllowed = 4, NSJSONWritingWithoutEscapingSlashes = 8 } __attribute__((swift_name("JSONSerialization.WritingOptions")));
__attribute__((swift_name("JSONSerialization")))
@interface NSJSONSerialization : NSObject
+ (BOOL)isValidJSONObject:(id)obj;
+ (nullable NSData *)dataWithJSONObject:(id)obj options:(NSJSONWritingOptions)opt error:(NSError **)error;
+ (nullable id)JSONObjectWithData:(NSData *)data options:(NSJSONReadingOptions)opt error:(NSError **)error;
@end
typedef NS_OPTIONS(NSUInteger, NSISO8601DateFormatOptions) { NSISO8601DateFormatWithInternetDateTime = 1907, NSISO8601DateFormatWithFractionalSeconds = 2048 } __attribute__((swift_name("ISO8601DateFormatter.Options")));
__attribute__((swift_name("ISO8601DateFormatter")))
@interface NSISO8601DateFormatter : NSObject
@property NSISO8601DateFormatOptions formatOptions;
- (nullable NSDate *)dateFromString:(NSString *)string;
- (NSString *)stringFromDate:(NSDate *)date;
@end
@class NSLocale, NSTimeZone;
__attribute__((swift_bridge("Foundation.Locale"))) NS_SWIFT_SENDABLE
@interface NSLocale : NSObject <NSCopying>
@end
__attribute__((swift_bridge("Foundation.TimeZone"))) NS_SWIFT_SENDABLE
@interface NSTimeZone : NSObject <NSCopying>
@end
NS_SWIFT_SENDABLE __attribute__((swift_name("DateFormatter")))
@interface NSDateFormatter : NSObject
@property (null_resettable, copy) NSLocale *locale;
@property (null_resettable, copy) NSTimeZone *timeZone;
@property (null_resettable, copy) NSString *dateFormat;
- (nullable NSDate *)dateFromString:(NSString *)string;
- (NSString *)stringFromDate:(NSDate *)date;
@end
typedef NS_OPTIONS(NSUInteger, NSStringCompareOptions) { NSCaseInsensitiveSearch NS_SWIFT_NAME(caseInsensitive) = 1, NSLiteralSearch NS_SWIFT_NAME(literal) = 2, NSBackwardsSearch NS_SWIFT_NAME(backwards) = 4, NSAnchoredSearch NS_SWIFT_NAME(anchored) = 8, NSNumericSearch NS_SWIFT_NAME(numeric) = 64, NSRegularExpressionSearch NS_SWIFT_NAME(regularExpression) = 1024 } __attribute__((swift_name("NSString.CompareOptions")));
NSString *NSHomeDirectory(void);
NSString *NSTemporaryDirectory(void);
typedef NSString *NSFileAttributeKey NS_TYPED_EXTENSIBLE_ENUM __attribute__((swift_name("FileAttributeKey")));
extern NSFileAttributeKey const NSFilePosixPermissions;
extern NSFileAttributeKey const NSFileProtectionKey;
typedef NSString *NSFileProtectionType NS_TYPED_EXTENSIBLE_ENUM __attribute__((swift_name("FileProtectionType")));
extern NSFileProtectionType const NSFileProtectionComplete;
extern NSFileProtectionType const NSFileProtectionCompleteUntilFirstUserAuthentication;
__attribute__((swift_name("FileManager")))
@interface NSFileManager : NSObject
@property (class, readonly, strong) NSFileManager *defaultManager NS_SWIFT_NAME(default);
- (BOOL)createDirectoryAtURL:(NSURL *)url withIntermediateDirectories:(BOOL)createIntermediates attributes:(nullable NSDictionary<NSFileAttributeKey, id> *)attributes error:(NSError **)error;
- (BOOL)setAttributes:(NSDictionary<NSFileAttributeKey, id> *)attributes ofItemAtPath:(NSString *)path error:(NSError **)error;
- (BOOL)fileExistsAtPath:(NSString *)path;
- (nullable NSData *)contentsAtPath:(NSString *)path;
- (nullable NSDictionary<NSFileAttributeKey, id> *)attributesOfItemAtPath:(NSString *)path error:(NSError **)error;
- (BOOL)removeItemAtURL:(NSURL *)URL error:(NSError **)error;
@property (readonly, copy) NSURL *temporaryDirectory;
- (BOOL)isReadableFileAtPath:(NSString *)path;
- (BOOL)isExecutableFileAtPath:(NSString *)path;
- (BOOL)fileExistsAtPath:(NSString *)path isDirectory:(nullable BOOL *)isDirectory;
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError **)error;
@property (readonly, copy) NSString *currentDirectoryPath;
- (nullable NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path error:(NSError **)error;
@end

typedef struct __attribute__((swift_attr("@Sendable"))) {
    NSInteger majorVersion;
    NSInteger minorVersion;
    NSInteger patchVersion;
} NSOperatingSystemVersion __attribute__((swift_name("OperatingSystemVersion")));
// The part that the servers and the tool use.
__attribute__((swift_attr("@Sendable"))) __attribute__((swift_name("ProcessInfo")))
@interface NSProcessInfo : NSObject
@property (class, readonly, strong) NSProcessInfo *processInfo;
@property (readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property (readonly, copy) NSArray<NSString *> *arguments;
@property (readonly) NSUInteger activeProcessorCount;
@property (readonly) NSUInteger processorCount;
@property (readonly) NSTimeInterval systemUptime;
@property (readonly, copy) NSString *operatingSystemVersionString;
@property (readonly) NSOperatingSystemVersion operatingSystemVersion;
@end
__attribute__((swift_name("FileHandle"))) @interface NSFileHandle : NSObject
- (instancetype)init NS_UNAVAILABLE;
@property (class, readonly, strong) NSFileHandle *fileHandleWithStandardInput NS_SWIFT_NAME(standardInput);
@property (class, readonly, strong) NSFileHandle *fileHandleWithStandardOutput NS_SWIFT_NAME(standardOutput);
@property (class, readonly, strong) NSFileHandle *fileHandleWithStandardError NS_SWIFT_NAME(standardError);
@property (class, readonly, strong) NSFileHandle *fileHandleWithNullDevice NS_SWIFT_NAME(nullDevice);
+ (nullable instancetype)fileHandleForReadingAtPath:(NSString *)path;
+ (nullable instancetype)fileHandleForWritingAtPath:(NSString *)path;
+ (nullable instancetype)fileHandleForReadingFromURL:(NSURL *)url error:(NSError **)error NS_SWIFT_NAME(init(forReadingFrom:));
- (BOOL)closeAndReturnError:(NSError **)error NS_SWIFT_NAME(close());
- (BOOL)writeData:(NSData *)data error:(NSError **)error NS_REFINED_FOR_SWIFT;
@property (readonly) int fileDescriptor;
- (NSData *)readDataToEndOfFile;
@end
__attribute__((swift_name("Pipe"))) @interface NSPipe : NSObject
@property (readonly, retain) NSFileHandle *fileHandleForReading;
@property (readonly, retain) NSFileHandle *fileHandleForWriting;
@end
__attribute__((swift_name("Bundle"))) @interface NSBundle : NSObject
@property (class, readonly, strong) NSBundle *mainBundle;
@property (nullable, readonly, copy) NSDictionary<NSString *, id> *infoDictionary;
- (nullable NSURL *)URLForResource:(nullable NSString *)name withExtension:(nullable NSString *)ext;
- (NSString *)localizedStringForKey:(NSString *)key value:(nullable NSString *)value table:(nullable NSString *)tableName;
@property (readonly, copy) NSURL *bundleURL;
@property (nullable, readonly, copy) NSURL *resourceURL;
@property (nullable, readonly, copy) NSURL *executableURL;
@property (nullable, readonly, copy) NSString *executablePath;
@end
@interface NSString (NSStringPathExtensions)
@property (readonly, copy) NSString *pathExtension;
@property (readonly, copy) NSString *lastPathComponent;
@property (readonly, copy) NSString *stringByDeletingLastPathComponent;
@end

#if defined(__ENVIRONMENT_MAC_OS_X_VERSION_MIN_REQUIRED__)
typedef enum __attribute__((enum_extensibility(closed))) : NSInteger { NSTaskTerminationReasonExit = 1, NSTaskTerminationReasonUncaughtSignal = 2 } NSTaskTerminationReason __attribute__((swift_name("Process.TerminationReason")));
__attribute__((swift_name("Process"))) @interface NSTask : NSObject
@property (nullable, copy) NSURL *executableURL;
@property (nullable, copy) NSArray<NSString *> *arguments;
@property (nullable, copy) NSDictionary<NSString *, NSString *> *environment;
@property (nullable, copy) NSURL *currentDirectoryURL;
@property (nullable, retain) id standardInput;
@property (nullable, retain) id standardOutput;
@property (nullable, retain) id standardError;
- (BOOL)launchAndReturnError:(NSError **)error NS_SWIFT_NAME(run());
@property (readonly) int processIdentifier;
@property (readonly, getter=isRunning) BOOL running;
@property (readonly) int terminationStatus;
@property (readonly) NSTaskTerminationReason terminationReason;
@property (nullable, copy) void (NS_SWIFT_SENDABLE ^terminationHandler)(NSTask *);
- (void)terminate;
- (void)waitUntilExit;
@end
#endif
#pragma clang assume_nonnull end
