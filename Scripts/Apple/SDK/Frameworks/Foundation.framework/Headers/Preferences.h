// Own text: preferences, as far as the acceptance app uses them. Imported by Foundation.h.
// Source: Apple's page of each symbol, read 27 November 2026.
#pragma once
#pragma clang assume_nonnull begin
NS_SWIFT_SENDABLE __attribute__((swift_name("UserDefaults")))
@interface NSUserDefaults : NSObject
@property (class, readonly, strong) NSUserDefaults *standardUserDefaults NS_SWIFT_NAME(standard);
- (nullable NSData *)dataForKey:(NSString *)defaultName NS_SWIFT_NAME(data(forKey:));
- (void)setObject:(nullable id)value forKey:(NSString *)defaultName NS_SWIFT_NAME(set(_:forKey:));
@end
#pragma clang assume_nonnull end
