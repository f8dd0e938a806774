# etcd, the API server, the controllers and the scheduler. Sourced by inside.sh.

keys() {
  cd "$STATE"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=runledger-node-test \
    -addext "subjectAltName=IP:$lan.1,IP:10.96.0.1,IP:127.0.0.1,DNS:kubernetes.default.svc" \
    -keyout tls.key -out tls.crt 2> /dev/null
  openssl ecparam -name prime256v1 -genkey -noout -out account.key
  openssl ec -in account.key -pubout -out account.pub 2> /dev/null
  : > users.csv
  add_user admin admin system:masters
  add_user system:kube-controller-manager controllers
  add_user system:kube-scheduler scheduler
  add_user system:kube-proxy proxy
  cd - > /dev/null
}

add_user() { # USER FILE [GROUP]: a user of the API server, and his kubeconfig
  local token
  token=$(openssl rand -hex 16)
  echo "$token,$1,$1${3:+,$3}" >> "$STATE/users.csv"
  cat > "$STATE/$2.kubeconfig" <<EOF
apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: 'https://$lan.1:6443', certificate-authority-data: $(base64 -w0 "$STATE/tls.crt") } }]
users: [{ name: test, user: { token: $token } }]
contexts: [{ name: test, context: { cluster: test, user: test } }]
current-context: test
EOF
}

start_control_plane() {
  keys
  add_user system:node:n1 n1 system:nodes
  add_user system:node:n2 n2 system:nodes
  export KUBECONFIG=$STATE/admin.kubeconfig
  start etcd "$BIN/etcd" --data-dir="$STATE/etcd" --listen-client-urls=http://127.0.0.1:2379 \
    --advertise-client-urls=http://127.0.0.1:2379 --unsafe-no-fsync --log-level=warn
  start kube-apiserver "$BIN/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --advertise-address="$lan.1" \
    --tls-cert-file="$STATE/tls.crt" --tls-private-key-file="$STATE/tls.key" --cert-dir="$STATE" \
    --token-auth-file="$STATE/users.csv" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
    --service-account-issuer=https://kubernetes.default.svc --service-account-signing-key-file="$STATE/account.key" \
    --service-account-key-file="$STATE/account.pub" --service-cluster-ip-range=10.96.0.0/16 --allow-privileged \
    --kubelet-preferred-address-types=InternalIP
  until_ok listens "$lan.1" 6443
  until_ok kubectl get --raw /readyz
  start kube-controller-manager "$BIN/kube-controller-manager" --kubeconfig="$STATE/controllers.kubeconfig" \
    --service-account-private-key-file="$STATE/account.key" --root-ca-file="$STATE/tls.crt" \
    --use-service-account-credentials --leader-elect=false --cluster-cidr=10.244.0.0/16 --allocate-node-cidrs \
    --node-monitor-grace-period=20s --bind-address=127.0.0.1 --cert-dir="$STATE/controllers"
  start kube-scheduler "$BIN/kube-scheduler" --kubeconfig="$STATE/scheduler.kubeconfig" --leader-elect=false \
    --bind-address=127.0.0.1 --cert-dir="$STATE/scheduler"
}

# DNS, volumes, and the controller of Ingress and Gateway.
start_services() {
  kubectl apply --server-side -f "$BIN/gateway-api.yaml" -f "$here/manifests" > /dev/null
  echo "{ \"sharedFileSystemPath\": \"$STATE/volumes\" }" > "$STATE/local-path.json"
  # The pod that makes and removes a folder needs a shell: the image of Valkey has one.
  cat > "$STATE/local-path.yaml" <<EOF
apiVersion: v1
kind: Pod
metadata: { name: volume }
spec: { containers: [{ name: shell, image: '$SHELL_IMAGE', imagePullPolicy: Never }] }
EOF
  start local-path "$BIN/local-path-provisioner" start --kubeconfig="$STATE/admin.kubeconfig" --namespace=local-path \
    --configmap-name=local-path --config="$STATE/local-path.json" --helper-pod-file="$STATE/local-path.yaml" \
    --helper-image="$SHELL_IMAGE" --service-account-name=default
  for app in kube-system/coredns traefik/traefik; do
    kubectl -n "${app%/*}" rollout status "daemonset/${app#*/}" --timeout=180s > /dev/null ||
      { kubectl get pods --all-namespaces && false; }
  done
}
