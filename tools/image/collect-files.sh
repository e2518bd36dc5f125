#!/bin/sh
# Runs in the first stage of the Containerfile. Collects in $1 what the image has: Node without
# symbols, the libraries that it loads, the package, and a user. $2 gets the data folder.
set -eu
image=$1
data=$2

mkdir -p "$image/usr/bin" "$image/usr/lib" "$image/usr/share/doc/node" "$image/etc" \
  "$image/var/lib/dpkg/status.d"
cp /build/node/node "$image/usr/bin/node"
cp /build/node/LICENSE "$image/usr/share/doc/node/"
strip --strip-unneeded "$image/usr/bin/node"

# Each library with the entry of its package, by which scanners know its version, and its license.
ldd "$image/usr/bin/node" | grep -o '/[^ ]*' | while read -r library; do
  cp --parents --dereference "$library" "$image"
  package=$(dpkg-query --search "$(realpath "$library")" | cut -d: -f1)
  dpkg-query --status "$package" >"$image/var/lib/dpkg/status.d/$package"
  cp --parents "/usr/share/doc/$package/copyright" "$image"
done

tar -xzf /build/package/*.tgz -C "$image/usr/lib"
mv "$image/usr/lib/package" "$image/usr/lib/bursar"
# The package's own command begins with env, which is not here.
printf '#!/usr/bin/node\nimport("/usr/lib/bursar/dist/bin.js")\n' >"$image/usr/bin/bursar"
chmod 755 "$image/usr/bin/bursar"

echo 'bursar:x:10001:10001::/var/lib/bursar:/usr/sbin/nologin' >"$image/etc/passwd"
echo 'bursar:x:10001:' >"$image/etc/group"
echo 'hosts: files dns' >"$image/etc/nsswitch.conf"
chown -R 0:0 "$image"
chmod -R u=rwX,go=rX "$image"

mkdir -p "$data/bursar"
chmod 700 "$data/bursar"
