# Stores the workspace as a git tree and prints the tree's name.
take_tree
git update-ref "refs/baton/$tree" "$tree"
echo "$tree"
